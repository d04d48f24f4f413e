import { traceField } from '../../channel/trace.ts';
import { editFields } from '../../core/routing/decision/header-edits.ts';
import { connectionFields, listItems, nameKey, valueOf } from '../../core/text/fields.ts';
import type { Fields } from './forwarder.ts';
import type { RequestHead } from './request-head.ts';
import { sendableTrailers } from './sendable.ts';

/**
 * The treatment of X-Forwarded-* and Forwarded fields from clients. `append` trusts the proxy in front and extends its
 * chain. `replace` is for an edge proxy and drops the client's values.
 */
export type ForwardedPolicy = 'append' | 'replace';

/** The sender of a request. */
export interface Peer {
  readonly address: string;
  readonly scheme: 'http' | 'https';
}

// Fields named in Connection are added (RFC 9110 section 7.6.1).
const hopByHop: readonly string[] = [...connectionFields, 'te'];

// Replaced in each forwarded request.
const rewritten: readonly string[] = [
  'content-length',
  'expect',
  'host',
  // Only data planes may see traces, and only they may answer them.
  traceField,
  'trailer',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
];

const dropped: Readonly<Record<ForwardedPolicy, ReadonlySet<string>>> = {
  append: new Set([...hopByHop, ...rewritten]),
  replace: new Set([...hopByHop, ...rewritten, 'forwarded']),
};

// End-to-end fields, which Connection must not name (RFC 9110 section 7.6.1). Otherwise a client could remove fields
// that a proxy in front of this one has added, for example the client's own address.
const endToEnd: ReadonlySet<string> = new Set([
  'authorization',
  'cache-control',
  'content-encoding',
  'content-type',
  'cookie',
  'forwarded',
  'set-cookie',
  'via',
  'x-forwarded-for',
  'x-real-ip',
  'x-request-id',
]);

const droppedFromAnswers: ReadonlySet<string> = new Set([...hopByHop, traceField]);

/** Returns the fields of a request for the backend, without Host, Content-Length and Via. */
export function forwardedFields(head: RequestHead, peer: Peer, policy: ForwardedPolicy): string[] {
  const named = connectionOptions(head.header('connection'));
  const { remainingHops } = head;
  const fields = endToEndFields(head, dropped[policy], named);
  if (remainingHops !== undefined) fields.push('max-forwards', String(remainingHops - 1));
  const announced = announcedTrailers(head);
  if (announced !== undefined) fields.push('trailer', announced);
  if (acceptsTrailers(head.header('te'))) fields.push('te', 'trailers');
  const chain = policy === 'replace' ? undefined : head.header('x-forwarded-for');
  fields.push('x-forwarded-for', appended(chain, peer.address));
  fields.push('x-forwarded-proto', peer.scheme);
  if (head.authority !== '') fields.push('x-forwarded-host', head.authority);
  // Only now, because Connection of the client must not remove fields that filters have set.
  return editFields(fields, head.edits);
}

function endToEndFields(
  head: RequestHead,
  names: ReadonlySet<string>,
  named: ReadonlySet<string> | undefined,
): string[] {
  const dropsHops = head.remainingHops !== undefined;
  const fields: string[] = [];
  const { names: received, fields: values } = head.received;
  for (let index = 0; index < received.length; index += 1) {
    const name = received[index] ?? '';
    if (names.has(name) || named?.has(name) === true || (dropsHops && name === 'max-forwards')) continue;
    fields.push(values[index * 2] ?? '', values[index * 2 + 1] ?? '');
  }
  return fields;
}

function appended(list: string | undefined, value: string): string {
  return list === undefined ? value : `${list}, ${value}`;
}

/** Returns the Trailer field of a request that can have trailers: in HTTP/1.1 a body with a length ends with its last byte. */
export function announcedTrailers(head: RequestHead): string | undefined {
  const mayFollow = head.contentLength === undefined || (head.httpVersion === '2.0' && head.hasBody);
  return mayFollow ? head.header('trailer') : undefined;
}

/**
 * Returns the fields of a backend's response for the client, without Transfer-Encoding, because the client's server
 * does its own framing. `undefined` if the response has an unsupported transfer coding, i.e. other than chunked.
 */
export function responseFields(fields: Fields): string[] | undefined {
  const named = connectionOptions(valueOf(fields, 'connection'));
  const kept: string[] = [];
  for (let position = 0; position < fields.length; position += 2) {
    const name = fields[position] ?? '';
    const value = fields[position + 1] ?? '';
    const key = nameKey(name);
    if (key === 'transfer-encoding' && listItems(value).join() !== 'chunked') return undefined;
    if (!droppedFromAnswers.has(key) && named?.has(key) !== true) kept.push(name, value);
  }
  return kept;
}

/** Returns the trailers without fields about framing or routing (RFC 9110 section 6.5.1). */
export function trailerFields(trailers: Fields): Fields {
  if (trailers.length === 0) return trailers;
  return sendableTrailers(responseFields(trailers) ?? []);
}

/** Returns the removable names in Connection, in lower case. The two common values name no field. */
function connectionOptions(value: string | undefined): ReadonlySet<string> | undefined {
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined;
  return new Set(listItems(value).filter((name) => !endToEnd.has(name)));
}

function acceptsTrailers(te: string | undefined): boolean {
  return te !== undefined && listItems(te).includes('trailers');
}
