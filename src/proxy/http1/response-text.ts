import { STATUS_CODES } from 'node:http';
import { hasField } from '../../core/text/fields.ts';
import type { Fields } from '../../core/text/fields.ts';
import { currentDate } from '../messages/date.ts';
import { inOnePiece, isRepeated } from '../messages/repeated.ts';
import { fieldText, http1Lines } from '../messages/sendable.ts';

/** A complete head, and everything that determines it besides its fields. */
interface CompleteHead {
  readonly text: string;
  readonly status: number;
  readonly hasLength: boolean;
  readonly isChunked: boolean;
  readonly keepsFor: number | undefined;
  readonly date: string;
}

/** The complete heads that were sent last with repeated fields. */
const complete = new WeakMap<Fields, CompleteHead>();

/** The head of an interim response, or of one that switches the protocol, without the empty line. `fields` were checked. */
export function headText(status: number, fields: Fields): string {
  return statusAndFields(status, fieldText(fields));
}

/** The head of a final response as text (RFC 9112 section 4). */
export class ResponseText {
  readonly status: number;
  readonly hasLength: boolean;
  isChunked = false;
  /** The complete head, after `frame`. */
  head = '';
  private readonly fields: Fields;
  private readonly last: CompleteHead | undefined;
  private readonly lines: string | undefined;

  /** @throws Unsendable */
  constructor(status: number, fields: Fields) {
    this.status = status;
    this.fields = fields;
    const last = complete.get(fields);
    this.last = last?.status === status ? last : undefined;
    this.lines = this.last === undefined ? http1Lines(status, fields) : undefined;
    this.hasLength = this.last === undefined ? hasField(fields, 'content-length') : this.last.hasLength;
  }

  /** Completes the head. `keepsFor`: seconds for which the connection persists, if it does. */
  frame(body: 'by-itself' | 'chunked', keepsFor: number | undefined): void {
    const { status, hasLength, last } = this;
    const isChunked = body === 'chunked';
    const date = currentDate();
    this.isChunked = isChunked;
    if (last !== undefined && last.isChunked === isChunked && last.keepsFor === keepsFor && last.date === date) {
      this.head = last.text;
      return;
    }
    this.head = this.format(date, keepsFor);
    if (!isRepeated(this.fields)) return;
    this.head = inOnePiece(this.head);
    complete.set(this.fields, { text: this.head, status, hasLength, isChunked, keepsFor, date });
  }

  private format(date: string, keepsFor: number | undefined): string {
    const { status, fields, lines = http1Lines(status, fields), isChunked } = this;
    const connection =
      keepsFor === undefined
        ? 'connection: close\r\n'
        : `connection: keep-alive\r\nkeep-alive: timeout=${keepsFor}\r\n`;
    const dateField = hasField(fields, 'date') ? '' : `date: ${date}\r\n`;
    const coding = isChunked ? 'transfer-encoding: chunked\r\n' : '';
    return `${statusAndFields(status, lines)}${connection}${dateField}${coding}\r\n`;
  }
}

function statusAndFields(status: number, lines: string): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}`;
}
