import type { Fields } from './forwarder.ts';
import { headerKey } from '../core/text/header.ts';
import type { RequestHead } from './request-head.ts';

/**
 * What becomes of X-Forwarded-* and Forwarded that a client sent. `append` trusts what is in front of the proxy and
 * adds to its chain; `replace` is for an edge: the client's claims are dropped.
 */
export type ForwardedPolicy = 'append' | 'replace';

/** What the proxy knows of the one who sent a request. */
export interface Peer {
  readonly address: string;
  readonly scheme: 'http' | 'https';
}

// RFC 9110 section 7.6.1, in lower case; fields named in Connection come on top.
const hopByHop: ReadonlySet<string> = new Set([
  'connection', 'http2-settings', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade',
]);

// Set anew for each forwarded request.
const rewritten: ReadonlySet<string> = new Set([
  'content-length', 'expect', 'host', 'trailer', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto',
]);

const untrusted: ReadonlySet<string> = new Set([...rewritten, 'forwarded']);

/** The fields of a request that go on to the backend, without Host, Content-Length and Via. */
export function forwardedFields(head: RequestHead, peer: Peer, policy: ForwardedPolicy): string[] {
  const named = connectionOptions(head.header('connection'));
  const dropped = droppedNames(head, policy);
  const fields: string[] = [];
  for (const [position, name] of head.names.entries()) {
    if (hopByHop.has(name) || dropped.has(name) || named?.has(name) === true) continue;
    fields.push(head.fields[position * 2] ?? '', head.fields[position * 2 + 1] ?? '');
  }
  if (head.remainingHops !== undefined) fields.push('max-forwards', String(head.remainingHops - 1));
  const announced = announcedTrailers(head);
  if (announced !== undefined) fields.push('trailer', announced);
  if (acceptsTrailers(head.header('te'))) fields.push('te', 'trailers');
  const chain = policy === 'replace' || named?.has('x-forwarded-for') === true ? undefined : head.header('x-forwarded-for');
  fields.push('x-forwarded-for', appended(chain, peer.address));
  fields.push('x-forwarded-proto', peer.scheme);
  if (head.authority !== '') fields.push('x-forwarded-host', head.authority);
  return fields;
}

function appended(list: string | undefined, value: string): string {
  return list === undefined ? value : `${list}, ${value}`;
}

/** What a request says will follow its body, where something can: a body with a length ends with its last byte in HTTP/1.1. */
export function announcedTrailers(head: RequestHead): string | undefined {
  const mayFollow = head.contentLength === undefined || (head.httpVersion === '2.0' && head.hasBody);
  return mayFollow ? head.header('trailer') : undefined;
}

function droppedNames(head: RequestHead, policy: ForwardedPolicy): ReadonlySet<string> {
  const names = policy === 'replace' ? untrusted : rewritten;
  return head.remainingHops === undefined ? names : new Set([...names, 'max-forwards']);
}

/**
 * The fields that a backend's answer goes on with. Transfer-Encoding is gone from them; the server that answers the
 * client frames anew. `undefined` for an answer whose framing we cannot take over: a transfer coding besides chunked.
 */
export function responseFields(fields: Fields): string[] | undefined {
  const named = connectionOptions(joined(fields, 'connection'));
  const kept: string[] = [];
  for (let position = 0; position < fields.length; position += 2) {
    const name = fields[position] ?? '';
    const value = fields[position + 1] ?? '';
    const key = headerKey(name);
    if (key === 'transfer-encoding' && value.trim().toLowerCase() !== 'chunked') return undefined;
    if (hopByHop.has(key) || named?.has(key) === true) continue;
    kept.push(name, value);
  }
  return kept;
}

/** Fields without those of one name, given in lower case. */
export function withoutField(fields: Fields, lowerName: string): string[] {
  const kept: string[] = [];
  for (let position = 0; position < fields.length; position += 2) {
    const name = fields[position] ?? '';
    if (headerKey(name) !== lowerName) kept.push(name, fields[position + 1] ?? '');
  }
  return kept;
}

/** Fields as pairs of name and value. */
export function pairs(fields: Fields): [string, string][] {
  const found: [string, string][] = [];
  for (let position = 0; position < fields.length; position += 2) found.push([fields[position] ?? '', fields[position + 1] ?? '']);
  return found;
}

function joined(fields: Fields, lowerName: string): string | undefined {
  let value: string | undefined;
  for (let position = 0; position < fields.length; position += 2) {
    if (headerKey(fields[position] ?? '') !== lowerName) continue;
    value = value === undefined ? fields[position + 1] : `${value},${fields[position + 1]}`;
  }
  return value;
}

/** Names listed in Connection, in lower case. The two common values name nothing. */
function connectionOptions(value: string | undefined): ReadonlySet<string> | undefined {
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined;
  return new Set(value.split(',').map((option) => headerKey(option.trim())));
}

function acceptsTrailers(te: string | undefined): boolean {
  return te?.split(',').some((coding) => coding.trim().toLowerCase() === 'trailers') === true;
}
