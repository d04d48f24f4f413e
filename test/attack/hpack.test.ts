import { once } from 'node:events';
import { connect } from 'node:http2';
import { duplexPair } from 'node:stream';
import type { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { HpackDecoder } from '../../src/proxy/frames/hpack/decoder.ts';
import { HpackEncoder } from '../../src/proxy/frames/hpack/encoder.ts';
import { eventually } from '../support/eventually.ts';
import { frame, frameTypes, receiveFrames } from '../support/http2.ts';
import type { ReceivedFrame } from '../support/http2.ts';
import { randomFrom, scaled, seed } from './support/scale.ts';

type Field = readonly [name: string, value: string];

const endStream = 1;
const endHeaders = 4;
const acknowledgement = 1;
/** Before a client of node:http2 knows the limit of the other side, it opens at most 100 streams. */
const perConnection = 90;

const names = [
  'accept',
  'cache-control',
  'cookie',
  'content-type',
  'etag',
  'location',
  'server',
  'set-cookie',
  'user-agent',
  'via',
  'x-a',
  'x-forwarded-for',
];
const values = [
  '',
  '1',
  'gzip, deflate',
  'a=1; b=2',
  'text/html',
  'no-cache',
  '"abc"',
  '~!@#$%^&*()_+{}|',
  'no'.repeat(70),
];

function randomFields(random: () => number): Field[] {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  return Array.from({ length: Math.floor(random() * 12) }, () => {
    const name = random() < 0.7 ? pick(names) : `x-${Math.floor(random() * 300)}`;
    if (random() < 0.6) return [name, pick(values)];
    const length = Math.floor(random() ** 6 * 4_000);
    const text = Array.from({ length }, () => String.fromCharCode(0x20 + Math.floor(random() * 95))).join('');
    return [name, text.trim()];
  });
}

/** The pairs of a list of alternating names and values. */
function pairsOf(list: readonly string[]): Field[] {
  return Array.from({ length: list.length / 2 }, (_, index) => [list[2 * index] ?? '', list[2 * index + 1] ?? '']);
}

/** Fields in an order that does not depend on how repeated ones are grouped. */
function sorted(fields: readonly Field[]): string[] {
  return fields.map(([name, value]) => `${name}: ${value}`).toSorted();
}

/** Requests and responses of one connection between a client of node:http2 and our HPACK. */
async function exchange(random: () => number): Promise<number> {
  const [ours, theirs] = duplexPair();
  const encoder = new HpackEncoder();
  const decoder = new HpackDecoder(4_096);
  const session = connect('http://a', {
    createConnection: () => theirs,
    settings: { headerTableSize: [0, 64, 300, 4_096, 65_536][Math.floor(random() * 5)]! },
    maxHeaderListPairs: 1_000,
  });
  const { frames } = receiveFrames(ours as Socket);
  ours.write(frame('settings', 0, 0, Buffer.from([0, 6, 0, 16, 0, 0])));
  await once(session, 'remoteSettings');
  for (const { type, flags, payload } of frames.splice(0)) {
    if (type !== frameTypes.settings || (flags & acknowledgement) !== 0) continue;
    for (let at = 0; at < payload.length; at += 6)
      if (payload.readUInt16BE(at) === 1) encoder.permit(payload.readUInt32BE(at + 2));
    ours.write(frame('settings', acknowledgement, 0));
  }
  const sent = Array.from({ length: perConnection }, () => withoutSingles(randomFields(random)));
  const streams = sent.map((fields) =>
    session.request([':method', 'GET', ':path', '/', ...fields.flat()], { endStream: true }).resume(),
  );
  await eventually(() => expect(blocksOf(frames).length).toBe(sent.length));
  for (const [index, block] of blocksOf(frames).entries()) {
    const received = decode(decoder, block).filter(([name]) => !name.startsWith(':'));
    expect(sorted(received)).toEqual(sorted(sent[index] ?? []));
  }
  const answers = sent.map((): Field[] => [[':status', '200'], ...randomFields(random)]);
  const responses = streams.map((stream) => once(stream, 'response') as Promise<[unknown, unknown, string[]]>);
  for (const [index, answer] of answers.entries())
    ours.write(sectionOf(streams[index]?.id ?? 0, encode(encoder, answer)));
  expect((await Promise.all(responses)).map(([, , raw]) => pairsOf(raw))).toEqual(answers);
  session.destroy();
  return answers.length;
}

/** node:http2 refuses to send some fields twice. */
function withoutSingles(fields: readonly Field[]): Field[] {
  return fields.filter(([name], index) => name !== 'cookie' && fields.findIndex(([other]) => other === name) === index);
}

/** The complete header sections among frames, still encoded. */
function blocksOf(frames: readonly ReceivedFrame[]): Buffer[] {
  const blocks: Buffer[] = [];
  let parts: Buffer[] = [];
  for (const { type, flags, payload } of frames) {
    if (type !== frameTypes.headers && type !== frameTypes.continuation) continue;
    parts.push(payload);
    if ((flags & endHeaders) === 0) continue;
    blocks.push(Buffer.concat(parts));
    parts = [];
  }
  return blocks;
}

function decode(decoder: HpackDecoder, bytes: Buffer): Field[] {
  const fields: Field[] = [];
  decoder.begin(bytes);
  for (let field = decoder.next(); field !== undefined; field = decoder.next()) fields.push([field.name, field.value]);
  return fields;
}

function encode(encoder: HpackEncoder, fields: readonly Field[]): Buffer {
  encoder.begin();
  for (const [name, value] of fields) encoder.add(name, value);
  return encoder.end();
}

function sectionOf(stream: number, block: Buffer): Buffer {
  const largest = 16_384;
  const parts: Buffer[] = [];
  for (let start = 0; start === 0 || start < block.length; start += largest) {
    const flags = (start === 0 ? endStream : 0) | (start + largest >= block.length ? endHeaders : 0);
    parts.push(frame(start === 0 ? 'headers' : 'continuation', flags, stream, block.subarray(start, start + largest)));
  }
  return Buffer.concat(parts);
}

test('nghttp2 decodes what our encoder encodes, and the reverse, whatever the fields and the size of the table', async () => {
  const random = randomFrom(seed);
  const connections = scaled(2, 100);
  let compared = 0;
  for (let round = 0; round < connections; round += 1) compared += await exchange(random);
  expect(compared).toBe(connections * perConnection);
});
