import { STATUS_CODES } from 'node:http';
import { hasField } from '../../core/text/fields.ts';
import type { Fields } from '../../core/text/fields.ts';
import { currentDate } from '../messages/date.ts';
import { fieldText } from '../messages/sendable.ts';

/** The head of a response as text (RFC 9112 section 4). */
export class ResponseText {
  readonly status: number;
  readonly hasLength: boolean;
  isChunked = false;
  /** The status line and all fields, without the empty line while the head is not framed. */
  head: string;
  private readonly fields: Fields;

  /** `fields` were checked, and `lines` is their text. */
  constructor(status: number, fields: Fields, lines = fieldText(fields)) {
    this.status = status;
    this.fields = fields;
    this.hasLength = hasField(fields, 'content-length');
    this.head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}`;
  }

  /** Completes the head of a final response. `keepsFor`: seconds for which the connection persists, if it does. */
  frame(body: 'by-itself' | 'chunked', keepsFor: number | undefined): void {
    this.isChunked = body === 'chunked';
    const date = hasField(this.fields, 'date') ? '' : `date: ${currentDate()}\r\n`;
    const connection =
      keepsFor === undefined
        ? 'connection: close\r\n'
        : `connection: keep-alive\r\nkeep-alive: timeout=${keepsFor}\r\n`;
    this.head += `${connection}${date}${this.isChunked ? 'transfer-encoding: chunked\r\n\r\n' : '\r\n'}`;
  }
}
