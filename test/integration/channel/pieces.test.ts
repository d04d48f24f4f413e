import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterEach, expect, test } from '@jest/globals';
import { ConfigurationSource } from '../../../src/channel/index.ts';
import { startChannel, tokenOf } from '../../support/channel.ts';
import { frame, frameTypes, literal, preface, receiveFrames, type RawHttp2 } from '../../support/http2.ts';
import { until } from '../../support/until.ts';

// Each piece of a message takes some hundred bytes of memory besides its length, until it is read.

const gateway = 'shop/web';
const open: { close(): Promise<void> | void }[] = [];

afterEach(async () => {
  for (const opened of open.splice(0).toReversed()) await opened.close();
});

/** A connection with the stream of a proxy, whose token is accepted when `authenticate` says so. */
async function openStream(authenticate: () => Promise<boolean>): Promise<RawHttp2> {
  const source = new ConfigurationSource();
  // No other limit ends it.
  const limits = { admission: 60_000, message: 60_000 };
  const { server, authority } = await startChannel(() => source, { authenticate, limits });
  open.push({ close: () => server.close() });
  const socket = connect({ host: '127.0.0.1', port: server.port, ca: authority.certificate, ALPNProtocols: ['h2'] });
  socket.on('error', () => {});
  open.push({ close: () => void socket.destroy() });
  await once(socket, 'secureConnect');
  const head = literal(
    [':method', 'POST'],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    [':path', '/v1/configuration'],
    ['sallyport-gateway', gateway],
    ['authorization', `Bearer ${tokenOf(gateway)}`],
  );
  socket.write(Buffer.concat([preface, frame('headers', 4, 1, head)]));
  return receiveFrames(socket);
}

function pieces(count: number, text: string): Buffer {
  return Buffer.concat(Array<Buffer>(count).fill(frame('data', 0, 1, Buffer.from(text))));
}

test.each([
  ['while its token is reviewed', () => new Promise<boolean>(() => {})],
  ['after its token was accepted', () => Promise.resolve(true)],
])('a client that sends pieces of one byte %s is disconnected', async (_when, authenticate) => {
  const { socket } = await openStream(authenticate);
  socket.write(pieces(20_000, ' '));
  await until(() => expect(socket.destroyed).toBe(true));
});

test('a proxy may send any number of small messages', async () => {
  const { socket, frames } = await openStream(() => Promise.resolve(true));
  const acknowledgement = '{"type":"acknowledge","id":1,"problems":[]}\n';
  socket.write(frame('data', 0, 1, Buffer.from('{"type":"hello","digests":{}}\n')));
  // Fewer bytes than the window of the stream.
  socket.write(Buffer.concat([pieces(1_400, acknowledgement), frame('ping', 0, 0, Buffer.alloc(8, 7))]));
  await until(() => expect(frames.some(({ type, flags }) => type === frameTypes.ping && flags === 1)).toBe(true));
  expect(socket.destroyed).toBe(false);
});
