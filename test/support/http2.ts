import { connect } from 'node:http2';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  OutgoingHttpHeaders,
  SecureClientSessionOptions,
  Settings,
} from 'node:http2';
import type { Socket } from 'node:net';
import { openRaw } from './proxy.ts';

const sessions = new Set<ClientHttp2Session>();

/** Ends every connection that was opened; for `afterEach`. */
export function closeHttp2(): void {
  for (const session of sessions) session.destroy();
  sessions.clear();
}

/** An HTTP/2 connection to a port of loopback: by prior knowledge, or over TLS where options say so. */
export function openHttp2(port: number, options?: SecureClientSessionOptions, settings?: Settings): ClientHttp2Session {
  const session = connect(`${options === undefined ? 'http' : 'https'}://127.0.0.1:${port}`, {
    ...options,
    ...(settings === undefined ? {} : { settings }),
  });
  session.on('error', () => undefined);
  sessions.add(session);
  return session;
}

export interface Http2Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly trailers: Record<string, unknown>;
  readonly body: string;
  /** Interim answers by status. */
  readonly interim: readonly number[];
  /** Whether the head ended the stream. */
  readonly headOnly: boolean;
  /** RFC 9113 section 7; 0 for an answer that ended well. */
  readonly code: number;
}

const endStream = 1;

/** Takes the whole answer on a stream, whatever ends it. */
export async function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  let [status, headers, trailers, body, headOnly] = [0, {}, {}, '', false];
  const interim: number[] = [];
  stream.on('error', () => undefined);
  stream.on('headers', (head) => interim.push(head[':status'] ?? 0));
  stream.on('continue', () => interim.push(100));
  stream.on('response', (head, flags) => {
    [status, headers, headOnly] = [head[':status'] ?? 0, head, (flags & endStream) !== 0];
  });
  stream.on('trailers', (fields) => (trailers = fields));
  stream.on('data', (chunk: Buffer) => (body += chunk.toString()));
  await new Promise((resolve) => {
    stream.on('close', resolve);
  });
  return { status, headers, trailers, body, interim, headOnly, code: stream.rstCode ?? 0 };
}

/** Sends a request on a connection and takes the whole answer. */
export function request(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders = {},
  body?: string,
): Promise<Http2Answer> {
  const stream = session.request({ ':authority': 'a', ':path': '/', ...headers }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return answerOf(stream);
}

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** A frame as bytes (RFC 9113 section 4.1). */
export function frame(
  type: keyof typeof frameTypes,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = frameTypes[type];
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Numbers of 32 bits, one after the other. */
export function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

/** A SETTINGS frame with one setting (RFC 9113 section 6.5.1). */
export function settingsFrame(id: number, value: number): Buffer {
  return frame('settings', 0, 0, Buffer.concat([Buffer.from([0, id]), uint32(value)]));
}

export const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame('settings', 0, 0)]);

/** Length of the text before the first frame (RFC 9113 section 3.4). */
const prefaceLength = 24;

/** Header fields as literals without compression (RFC 7541 section 6.2.2), for what no client library would send. */
export function literal(...fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [
      Buffer.from([0]),
      lengthOf(name),
      Buffer.from(name, 'latin1'),
      lengthOf(value),
      Buffer.from(value, 'latin1'),
    ]),
  );
}

function lengthOf(text: string): Buffer {
  if (text.length >= 127 + 128) throw new Error('only for short literals');
  return text.length < 127 ? Buffer.from([text.length]) : Buffer.from([127, text.length - 127]);
}

export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** A bare connection that speaks frames. */
export interface RawHttp2 {
  readonly socket: Socket;
  readonly frames: ReceivedFrame[];
  readonly closed: Promise<unknown>;
}

/** Opens a bare connection and sends preface and settings. */
export function openFrames(port: number, address?: string): RawHttp2 {
  const socket = openRaw(port, address);
  socket.write(preface);
  return receiveFrames(socket);
}

/** Reads frames from a connection on which the other side speaks HTTP/2; a client's preface before them is passed over. */
export function receiveFrames(socket: Socket): RawHttp2 {
  const frames: ReceivedFrame[] = [];
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    if (rest.subarray(0, 3).equals(preface.subarray(0, 3)) && rest.length >= prefaceLength)
      rest = rest.subarray(prefaceLength);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      frames.push({
        type: rest[3] ?? 0,
        flags: rest[4] ?? 0,
        stream: rest.readUInt32BE(5),
        payload: rest.subarray(9, end),
      });
      rest = rest.subarray(end);
    }
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  return { socket, frames, closed };
}
