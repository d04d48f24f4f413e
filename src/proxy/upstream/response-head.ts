import { nameKey } from '../../core/text/fields.ts';
import { fieldLines, fieldsFrom } from '../messages/field-lines.ts';
import type { UpstreamHead } from '../messages/forwarder.ts';

/** What a head tells about the connection after the response. */
export interface Persistence {
  /** Whether the connection may carry another request (RFC 9112 section 9.3). */
  readonly persists: boolean;
  /** Seconds for which the backend keeps an idle connection, if specified. */
  readonly keepsFor: number | undefined;
}

/** The status line and fields of a response, and its framing (RFC 9112 sections 4 to 6). */
export interface ResponseHead extends UpstreamHead, Persistence {
  /** Length of the body in bytes; undefined without Content-Length. */
  readonly contentLength: number | undefined;
  readonly isChunked: boolean;
}

const wholeHead = new RegExp(`^HTTP/1\\.[01] [1-9][0-9]{2}(?: [\\t\\x20-\\x7e\\x80-\\xff]*)?${fieldLines.source}`);

/**
 * Parses the head of a response, as Latin-1 and without the empty line at its end. Returns `undefined` for a syntax
 * error or ambiguous framing: two lengths, or a length and a transfer coding.
 */
export function parseResponseHead(text: string): ResponseHead | undefined {
  if (!wholeHead.test(text)) return undefined;
  const endOfLine = text.indexOf('\r\n');
  const fields = endOfLine === -1 ? [] : fieldsFrom(text, endOfLine);
  const framing = new Framing();
  for (let position = 0; position < fields.length; position += 2)
    framing.add(fields[position] ?? '', fields[position + 1] ?? '');
  const isOld = text[7] === '0';
  // HTTP/1.0 has no chunked coding, so the framing is unknown.
  if (framing.isBroken || (isOld && framing.isChunked)) return undefined;
  const { contentLength, isChunked, closes, keepsFor } = framing;
  return {
    status: Number(text.slice(9, 12)),
    fields,
    httpVersion: isOld ? '1.0' : '1.1',
    contentLength,
    isChunked,
    persists: !isOld && !closes,
    keepsFor,
    forwarded: undefined,
  };
}

const digits = /^[0-9]{1,15}$/;
const timeout = /(?:^|[,\t ])timeout=(?<seconds>[0-9]{1,6})(?:$|[,\t ])/i;

/** The framing of a body and the connection options, from the fields of a head. */
class Framing {
  contentLength: number | undefined;
  isChunked = false;
  closes = false;
  keepsFor: number | undefined;
  isBroken = false;

  add(name: string, value: string): void {
    // Only names of these lengths are relevant.
    if (name.length !== 10 && name.length !== 14 && name.length !== 17) return;
    switch (nameKey(name)) {
      case 'content-length':
        this.isBroken ||= this.isChunked || this.contentLength !== undefined || !digits.test(value);
        this.contentLength = Number(value);
        return;
      case 'transfer-encoding':
        this.isBroken ||= this.isChunked || this.contentLength !== undefined || value.toLowerCase() !== 'chunked';
        this.isChunked = true;
        return;
      case 'connection':
        this.closes ||= asksForEnd(value);
        return;
      case 'keep-alive':
        this.keepsFor = secondsIn(value);
    }
  }
}

function asksForEnd(connection: string): boolean {
  // Fast path for the most common value.
  if (connection === 'keep-alive') return false;
  return connection
    .toLowerCase()
    .split(',')
    .some((option) => option.trim() === 'close');
}

function secondsIn(keepAlive: string): number | undefined {
  const seconds = timeout.exec(keepAlive)?.groups?.['seconds'];
  return seconds === undefined ? undefined : Number(seconds);
}
