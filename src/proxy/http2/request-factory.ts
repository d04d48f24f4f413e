import { randomBytes } from 'node:crypto';
import { valueOf } from '../../core/text/fields.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import { readHttp2Head } from '../messages/request-head.ts';
import type { FieldSection, RequestHead } from '../messages/request-head.ts';
import type { HeaderSection } from '../frames/header-sections.ts';
import { Http2Stream } from './http2-stream.ts';
import type { StreamCarrier } from './http2-stream.ts';

/** A stream that a client has opened. */
interface OpenedStream {
  readonly id: number;
  /** Whether the request has no body. */
  readonly endsStream: boolean;
  /** The window of the client. */
  readonly window: number;
}

/** Makes requests from the header sections of one connection. */
export class RequestFactory {
  private readonly limits: ProxyLimits;
  private readonly carrier: StreamCarrier;
  /** The fields of the last request: the next one may have the same ones. */
  private previous: FieldSection | undefined;

  constructor(limits: ProxyLimits, carrier: StreamCarrier) {
    this.limits = limits;
    this.carrier = carrier;
  }

  /** Releases the memory of the last request. */
  forget(): void {
    this.previous = undefined;
  }

  create({ id, endsStream, window }: OpenedStream, section: HeaderSection): Http2Stream {
    const { method = '', protocol, fields } = section;
    const upgrade = protocol === 'websocket' ? protocol : undefined;
    const head = this.readHead(section, endsStream || upgrade !== undefined);
    const expectation = fields.includes('expect') ? valueOf(fields, 'expect')?.toLowerCase() : undefined;
    const isUnexpected = expectation !== undefined && expectation !== '100-continue';
    return new Http2Stream(
      this.carrier,
      {
        id,
        method: upgrade === undefined ? method : 'GET',
        head: isUnexpected ? 'expectation-failed' : head,
        upgrade,
        awaitsContinue: expectation === '100-continue',
        bodyLength: upgrade === undefined ? section.contentLength : undefined,
      },
      { send: window, receive: this.limits.streamWindow },
    );
  }

  private readHead(
    { method = '', protocol, path, fields, isKept }: HeaderSection,
    hasNoBody: boolean,
  ): RequestHead | AnswerReason {
    if (method === 'CONNECT' && protocol !== 'websocket') return 'connect-unsupported';
    const isWebSocket = method === 'CONNECT';
    const message = {
      httpVersion: '2.0',
      method: isWebSocket ? 'GET' : method,
      url: path ?? '',
      // RFC 8441 section 5.1: HTTP/2 has no Sec-WebSocket-Key, which HTTP/1.1 requires.
      rawHeaders: isWebSocket ? [...fields, 'sec-websocket-key', randomBytes(16).toString('base64')] : fields,
    };
    const head = readHttp2Head(message, hasNoBody, this.limits, this.previous);
    this.previous = typeof head === 'string' || !isKept ? undefined : head.section;
    return head;
  }
}
