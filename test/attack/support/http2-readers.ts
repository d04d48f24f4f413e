import { performServerHandshake } from 'node:http2';
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import type { Limit } from '../../../src/proxy/counters.ts';
import { ClosedStreams } from '../../../src/proxy/frames/closed-streams.ts';
import { FrameLimits } from '../../../src/proxy/frames/frame-limits.ts';
import { FrameReader } from '../../../src/proxy/frames/frame-reader.ts';
import { FrameReceiver } from '../../../src/proxy/frames/frame-receiver.ts';
import type { FrameTarget } from '../../../src/proxy/frames/frame-receiver.ts';
import type { WholeBlock } from '../../../src/proxy/frames/header-block.ts';
import type { SectionReader } from '../../../src/proxy/frames/header-sections.ts';
import type { Http2Stream } from '../../../src/proxy/http2/http2-stream.ts';
import { Outgoing } from '../../../src/proxy/frames/outgoing.ts';
import { ConnectionError, errorCodes, initialWindow } from '../../../src/proxy/frames/protocol.ts';
import { ReceiveWindow } from '../../../src/proxy/frames/receive-window.ts';
import type { Sender } from '../../../src/proxy/frames/sender.ts';
import type { PeerSettings } from '../../../src/proxy/frames/settings.ts';
import { defaultLimits } from '../../../src/proxy/limits/limits.ts';
import { frameTypes, receiveFrames } from '../../support/http2.ts';

/** A request as read from a connection. */
export interface ReadRequest {
  readonly stream: number;
  readonly method: string | undefined;
  readonly path: string | undefined;
  /** In lower case, sorted, as `name: value`. */
  readonly fields: readonly string[];
  body: string;
  trailers: readonly string[];
  isComplete: boolean;
}

export interface Reading {
  readonly requests: readonly ReadRequest[];
  /** Everything that happened, in order. */
  readonly events: readonly string[];
}

/** A stream as far as the receiver of frames knows it. */
interface FakeStream {
  readonly id: number;
  readonly request: ReadRequest;
  isComplete: boolean;
  readonly receiveWindow: ReceiveWindow;
  readonly outgoing: Outgoing;
  readonly credit: () => void;
}

/** Records what the frames of a client mean to the receiver. */
class Recorder implements FrameTarget<Http2Stream> {
  readonly frameLimits = new FrameLimits((limit: Limit) => this.events.push(`limit ${limit}`));
  readonly closedStreams = new ClosedStreams();
  readonly known = new Map<number, FakeStream>();
  lastStream = 0;
  readonly lastServed = Infinity;
  readonly requests: ReadRequest[] = [];
  readonly events: string[] = [];
  readonly sender = {
    window: initialWindow,
    frame: (type: number, flags: number) => this.events.push(`sent ${type} ${flags}`),
    credit: () => undefined,
    permitTable: () => undefined,
    want: () => undefined,
    windowGrew: () => undefined,
  } as unknown as Sender;

  get streams(): ReadonlyMap<number, Http2Stream> {
    return this.known as unknown as ReadonlyMap<number, Http2Stream>;
  }

  checkOpening(id: number): void {
    if (id % 2 === 0) throw new ConnectionError(errorCodes.protocolError, 'invalid stream identifier');
    if (id > this.lastStream) return;
    const end = this.closedStreams.endOf(id);
    if (end === undefined || end === 'ended')
      throw new ConnectionError(end === 'ended' ? errorCodes.streamClosed : errorCodes.protocolError, 'HEADERS');
  }

  onHead({ stream, endsStream, dependsOnItself, bytes }: WholeBlock, sections: SectionReader): void {
    const section = sections.readRequest(bytes);
    this.lastStream = stream;
    if (section.problem !== undefined || dependsOnItself) {
      this.streamError(stream, 1);
      return;
    }
    const { method, path, fields } = section;
    const request = { stream, method, path, fields: linesOf(fields), body: '', trailers: [], isComplete: endsStream };
    this.requests.push(request);
    this.events.push(`request ${JSON.stringify(request)}`);
    this.known.set(stream, {
      id: stream,
      request,
      isComplete: endsStream,
      receiveWindow: new ReceiveWindow(initialWindow),
      outgoing: new Outgoing(stream, initialWindow, { drained: () => undefined, sent: () => undefined }),
      credit: () => undefined,
    });
  }

  onData(stream: Http2Stream, data: Buffer): void {
    const { request } = stream as unknown as FakeStream;
    request.body += data.toString('latin1');
  }

  onLastData(stream: Http2Stream, data: Buffer): void {
    this.onData(stream, data);
  }

  onEnd(stream: Http2Stream, trailers: readonly string[]): void {
    const fake = stream as unknown as FakeStream;
    fake.isComplete = true;
    fake.request.isComplete = true;
    fake.request.trailers = linesOf(trailers);
    this.events.push(`end ${stream.id} ${JSON.stringify(fake.request)}`);
  }

  onReset(stream: Http2Stream, code: number): void {
    this.events.push(`reset ${stream.id} ${code}`);
    this.known.delete(stream.id);
    this.closedStreams.add(stream.id, 'peer');
  }

  onGoaway(code: number): void {
    this.events.push(`goaway ${code}`);
  }

  onSettings({ initialWindowSize }: PeerSettings): void {
    if (initialWindowSize !== undefined) this.events.push(`window ${initialWindowSize}`);
  }

  streamError(id: number, code: number): void {
    this.events.push(`error ${id} ${code}`);
    this.known.delete(id);
    this.closedStreams.add(id, 'side');
  }
}

/** What our reader makes of the bytes of a connection. */
export function readByProxy(pieces: readonly Buffer[]): Reading {
  const recorder = new Recorder();
  const reader = new FrameReader(new FrameReceiver(recorder, defaultLimits));
  try {
    for (const piece of pieces) {
      let rest = piece;
      // Small budgets: the reader must go on at any frame.
      while (rest.length > 0) rest = rest.subarray(reader.read(rest, 1));
    }
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    recorder.events.push(`over ${error.code}`);
  }
  return recorder;
}

/** What nghttp2, through Node, makes of them, and whether it has ended the connection. */
export async function readByNghttp2(
  bytes: Buffer,
): Promise<{ readonly requests: ReadonlyMap<number, ReadRequest>; readonly isOver: boolean }> {
  const [ours, theirs] = duplexPair();
  const requests = new Map<number, ReadRequest>();
  let isOver = false;
  const session = performServerHandshake(theirs, {
    settings: { enableConnectProtocol: true },
    maxHeaderListPairs: 1_000,
  });
  session
    .on('error', () => (isOver = true))
    .on('close', () => (isOver = true))
    .on('stream', (stream, headers, _flags, raw) => {
      const request: ReadRequest = {
        stream: stream.id ?? 0,
        method: headers[':method'],
        path: headers[':path'],
        fields: linesOf(raw.flatMap((text, index) => (index % 2 === 0 ? [text, raw[index + 1] ?? ''] : []))),
        body: '',
        trailers: [],
        isComplete: false,
      };
      requests.set(request.stream, request);
      stream
        .on('error', () => undefined)
        .on('aborted', () => requests.delete(request.stream))
        .on('trailers', (_headers, _trailerFlags, rawTrailers) => (request.trailers = linesOf(rawTrailers)))
        .on('data', (data: Buffer) => (request.body += data.toString('latin1')))
        .on('end', () => (request.isComplete = true));
    });
  const { frames } = receiveFrames(ours.on('error', () => undefined) as Socket);
  ours.write(bytes);
  // The pair passes bytes on in a few turns.
  let before = '';
  for (let turn = 0; turn < 40; turn += 1) {
    await new Promise(setImmediate);
    const now = JSON.stringify([...requests.values(), frames.length]);
    if (turn % 6 === 5 && now === before) break;
    if (turn % 6 === 5) before = now;
  }
  isOver ||= frames.some(({ type }) => type === frameTypes.goaway);
  // The end of the session aborts its streams.
  const found = new Map(requests);
  session.destroy();
  ours.destroy();
  return { requests: found, isOver };
}

/** Fields without pseudo-header fields and Host; cookies joined (RFC 9113 section 8.2.3). */
function linesOf(fields: readonly string[]): string[] {
  const lines: string[] = [];
  const cookies: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const [name = '', value = ''] = [fields[index], fields[index + 1]];
    if (name === 'cookie') cookies.push(value);
    else if (!name.startsWith(':') && name !== 'host') lines.push(`${name}: ${value}`);
  }
  if (cookies.length > 0) lines.push(`cookie: ${cookies.join('; ')}`);
  return lines.toSorted();
}
