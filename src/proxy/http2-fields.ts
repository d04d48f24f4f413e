import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http2';
import { nameKey } from '../core/text/fields.ts';
import type { Fields } from './forwarder.ts';

/**
 * Fields in the form in which node:http2 sends them: names in lower case, repeated ones joined (RFC 9110 section 5.3)
 * but for Set-Cookie. Throws on names and values that cannot be sent.
 */
export function toHttp2Headers(fields: Fields): OutgoingHttpHeaders {
  const headers = Object.create(null) as Record<string, string | string[]>;
  for (let position = 0; position < fields.length; position += 2) {
    const name = nameKey(fields[position] ?? '');
    const value = fields[position + 1] ?? '';
    validateHeaderName(name);
    validateHeaderValue(name, value);
    headers[name] = joined(name, headers[name], value);
  }
  return headers;
}

function joined(name: string, standing: string | string[] | undefined, value: string): string | string[] {
  if (name === 'set-cookie') return [standing ?? [], value].flat();
  if (standing === undefined) return value;
  return `${String(standing)}${name === 'cookie' ? '; ' : ', '}${value}`;
}

/**
 * The fields of a raw HTTP/2 header section without its pseudo-header fields. Cookies, which HTTP/2 lets travel in
 * pieces, are put together again (RFC 9113 section 8.2.3).
 */
export function fromRawHeaders(raw: readonly string[]): string[] {
  const fields: string[] = [];
  const cookies: string[] = [];
  for (let position = 0; position < raw.length; position += 2) {
    const name = raw[position] ?? '';
    const value = raw[position + 1] ?? '';
    if (name === 'cookie') cookies.push(value);
    else if (!name.startsWith(':')) fields.push(name, value);
  }
  if (cookies.length > 0) fields.push('cookie', cookies.join('; '));
  return fields;
}
