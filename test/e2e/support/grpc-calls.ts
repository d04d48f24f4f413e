import type { ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { patience } from './client.ts';
import { inTime, wholeAnswer, type Http2Answer, type Http2Channel } from './http2-channel.ts';
import { waitFor } from './wait.ts';

/** What the echo server serves. */
export const services = {
  echo: 'gateway_api_conformance.echo_basic.grpcecho.GrpcEcho',
  reflection: 'grpc.reflection.v1.ServerReflection',
} as const;

const echo = headersOf(`/${services.echo}/Echo`);
/** Streams both ways: questions about the server, each of which it answers. */
const reflection = headersOf(`/${services.reflection}/ServerReflectionInfo`);

function headersOf(path: string): OutgoingHttpHeaders {
  return { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
}

const emptyMessage = framed();
/** ServerReflectionRequest.list_services: field 7, a string. */
const question = framed(0x3a, 1, 0x2a);
/** Milliseconds from one question to the next. */
const interval = 100;

/** A message as it travels ("Length-Prefixed-Message"). */
function framed(...message: readonly number[]): Buffer {
  return Buffer.from([0, 0, 0, 0, message.length, ...message]);
}

/** A unary call of the echo server, whose answer names its pod and all that came with the call. */
export async function echoCall(channel: Http2Channel): Promise<Http2Answer> {
  return wellEnded(1, await channel.request(echo, (stream) => wholeAnswer(inTime(stream.end(emptyMessage)))));
}

/** A call that lasts while so many questions are asked, and ends with the answer to the last one. */
export async function conversation(channel: Http2Channel, questions: number): Promise<void> {
  wellEnded(
    questions,
    await channel.request(reflection, (stream) => converse(inTime(stream, questions * interval + patience), questions)),
  );
}

/** Asks as many questions as are due by the clock, however late timers fire. */
function converse(stream: ClientHttp2Stream, questions: number): Promise<Http2Answer> {
  const begin = performance.now();
  let asked = 0;
  const timer = setInterval(() => {
    const due = Math.min(questions, Math.floor((performance.now() - begin) / interval));
    for (; asked < due; asked += 1) stream.write(question);
    if (asked < questions) return;
    clearInterval(timer);
    stream.end();
  }, interval);
  stream.once('close', () => clearInterval(timer));
  return wholeAnswer(stream);
}

/** The answer to a call that the server completed, with so many messages; throws for any other. */
function wellEnded(messages: number, answer: Http2Answer): Http2Answer {
  const { headers, trailers, body } = answer;
  const { 'grpc-status': status, 'grpc-message': message } = { ...headers, ...trailers };
  if (status !== '0')
    throw new Error(`HTTP status ${String(headers[':status'])}, gRPC status ${String(status)}: ${String(message)}`);
  const count = messagesIn(body);
  if (count !== messages) throw new Error(`${count} of ${messages} messages`);
  return answer;
}

function messagesIn(bytes: Buffer): number {
  let [count, position] = [0, 0];
  for (; position + 5 <= bytes.length; count += 1) position += 5 + bytes.readUInt32BE(position + 1);
  return position === bytes.length ? count : NaN;
}

/** How a call ended that its client wanted to go on. */
export interface End {
  /** Pieces of answers that came after the server had announced the end of the connection; undefined where it never did. */
  readonly afterAnnouncement: number | undefined;
  readonly cause: string;
}

/** A call that goes on until its client stops it, or those who carry it end. */
export class LastingCall {
  /** Of the call, should it not go on until it is stopped. */
  readonly end: Promise<End>;
  private pieces = 0;
  private stream: ClientHttp2Stream | undefined;
  private isOver = false;

  constructor(channel: Http2Channel) {
    let announced: number | undefined;
    const call = channel.request(reflection, (stream) => {
      this.stream = stream;
      stream.session?.once('goaway', () => (announced = this.pieces));
      stream.on('data', () => (this.pieces += 1));
      return converse(stream, Infinity);
    });
    const over = (cause: string): End => {
      this.isOver = true;
      return { cause, afterAnnouncement: announced === undefined ? undefined : this.pieces - announced };
    };
    this.end = call.then(
      ({ trailers }) => over(`gRPC status ${String(trailers['grpc-status'])}`),
      (error: unknown) => over(String(error)),
    );
  }

  /** Waits until more of its questions were answered; fails where it has ended. */
  async goesOn(): Promise<void> {
    const wished = this.pieces + 3;
    await waitFor('the call goes on, or has ended', async () =>
      this.isOver || this.pieces >= wished ? true : undefined,
    );
    if (this.isOver) throw new Error(`the call has ended: ${(await this.end).cause}`);
  }

  stop(): void {
    this.stream?.close();
  }
}
