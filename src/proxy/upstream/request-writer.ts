import type { Readable } from 'node:stream';
import type { Socket } from 'node:net';
import { formatAddress } from '../sockets/address.ts';
import { hasField, positionOf } from '../../core/text/fields.ts';
import type { Fields, Upstream, UpstreamRequest } from '../messages/forwarder.ts';
import { inOnePiece, isRepeated } from '../messages/repeated.ts';
import { isRequestLine, linesOf } from '../messages/sendable.ts';

// RFC 9110 section 8.6: these methods usually have a body, so Content-Length 0 is sent without one.
const expectBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Formats the head of a request as HTTP/1.1 (RFC 9112 sections 3 and 5). Returns `undefined` if a part of it would be misinterpreted. */
export function requestHead(request: UpstreamRequest): string | undefined {
  const { method, target } = request;
  if (!isRequestLine(method, target)) return undefined;
  const rest = restOfHead(request);
  return rest === undefined ? undefined : `${method} ${target} HTTP/1.1\r\n${rest}`;
}

/** All of a head but the request line, and everything that determines it besides its fields. */
interface RestOfHead {
  readonly text: string;
  readonly method: string;
  readonly upstream: Upstream;
  readonly hasStream: boolean;
}

/** What was sent last with repeated fields. */
const rests = new WeakMap<Fields, RestOfHead>();

function restOfHead(request: UpstreamRequest): string | undefined {
  const { method, fields, upstream, body, upgrade } = request;
  const hasStream = body !== undefined;
  const last = rests.get(fields);
  const isSame = last?.method === method && last.upstream === upstream && last.hasStream === hasStream;
  if (isSame && upgrade === undefined) return last.text;
  const lines = linesOf(fields);
  if (lines === undefined) return undefined;
  // HTTP/1.0 clients may omit it.
  const host = hasField(fields, 'host') ? '' : `host: ${formatAddress(upstream.host, upstream.port)}\r\n`;
  const text = `${host}${lines}${framingLines(request)}\r\n`;
  if (upgrade !== undefined || !isRepeated(fields)) return text;
  rests.set(fields, { text: inOnePiece(text), method, upstream, hasStream });
  return text;
}

/** Formats the fields for the connection and the body. */
function framingLines({ method, fields, body, upgrade }: UpstreamRequest): string {
  if (upgrade !== undefined) return `connection: upgrade\r\nupgrade: ${upgrade}\r\n`;
  if (body !== undefined && !hasField(fields, 'content-length'))
    return 'connection: keep-alive\r\ntransfer-encoding: chunked\r\n';
  return body === undefined && expectBody.has(method) && !hasField(fields, 'content-length')
    ? 'connection: keep-alive\r\ncontent-length: 0\r\n'
    : 'connection: keep-alive\r\n';
}

function contentLength(fields: Fields): number | undefined {
  const position = positionOf(fields, 'content-length');
  return position === -1 ? undefined : Number(fields[position + 1]);
}

/** Callbacks of a body writer: exactly one is called, once. */
export interface BodyWriterEvents {
  written(): void;
  /** The body was shorter or longer than its length. */
  failed(): void;
}

/** Writes a request body at the speed of the backend. */
export class BodyWriter {
  private readonly socket: Socket;
  private readonly body: Readable;
  private readonly request: UpstreamRequest;
  private readonly events: BodyWriterEvents;
  private readonly length: number | undefined;
  private bytes = 0;

  constructor(socket: Socket, body: Readable, request: UpstreamRequest, events: BodyWriterEvents) {
    this.socket = socket;
    this.body = body;
    this.request = request;
    this.events = events;
    this.length = contentLength(request.fields);
    body.on('data', this.write).on('end', this.end).on('error', this.fail);
  }

  drained(): void {
    this.request.sending?.(this.socket.writableLength, 0);
    this.body.resume();
  }

  /** Stops writing, without a callback. */
  stop(): void {
    this.body.off('data', this.write).off('end', this.end).off('error', this.fail).on('error', ignore).destroy();
  }

  private readonly write = (data: Buffer): void => {
    this.bytes += data.length;
    if (this.length === undefined) {
      this.socket.cork();
      this.socket.write(`${data.length.toString(16)}\r\n`, 'latin1');
      this.socket.write(data);
      this.socket.write('\r\n', 'latin1');
      this.socket.uncork();
    } else if (this.bytes > this.length) {
      this.fail();
      return;
    } else {
      this.socket.write(data);
    }
    if (this.socket.writableNeedDrain) this.body.pause();
    // A corked socket has not tried to write yet, so its bytes do not count as waiting.
    if (this.socket.writableCorked === 0 || this.socket.writableNeedDrain)
      this.request.sending?.(this.socket.writableLength, data.length);
  };

  private readonly end = (): void => {
    if (this.length === undefined) {
      const { trailers, announcesTrailers } = this.request;
      this.socket.write(`0\r\n${(announcesTrailers === true && linesOf(trailers?.() ?? [])) || ''}\r\n`, 'latin1');
    } else if (this.bytes < this.length) {
      this.fail();
      return;
    }
    this.events.written();
  };

  private readonly fail = (): void => {
    this.stop();
    this.events.failed();
  };
}

function ignore(): void {
  // Errors after `stop` have no effect.
}
