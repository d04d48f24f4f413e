import { listItems } from '../../core/text/fields.ts';
import type { Fields } from '../../core/text/fields.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import type { RequestHead } from '../messages/request-head.ts';
import type { BodyFraming } from './request-reader.ts';

/** The framing of the body of a request. After a head that is refused, no further byte can be interpreted. */
export function framingOf(head: RequestHead | AnswerReason): BodyFraming {
  return typeof head === 'string' ? 'unknown' : (head.contentLength ?? 'chunked');
}

/** Whether a body of known length is among the available bytes. */
export function isWithin(framing: BodyFraming, available: number): boolean {
  return typeof framing === 'number' && framing > 0 && framing <= available;
}

/** The expectation of a request (RFC 9110 section 10.1.1). HTTP/1.0 has none. */
export function expectationOf(head: RequestHead): '100-continue' | 'other' | undefined {
  const value = head.httpVersion === '1.0' ? undefined : head.header('expect');
  if (value === undefined) return undefined;
  return listItems(value).every((item) => item === '100-continue') ? '100-continue' : 'other';
}

/** Whether trailers ask for the end of the connection. */
export function endsConnection(trailers: Fields): boolean {
  return trailers.some(
    (text, position) =>
      position % 2 === 0 &&
      /^connection$/i.test(text) &&
      /(?:^|[\t ,])close(?:$|[\t ,])/i.test(trailers[position + 1] ?? ''),
  );
}
