import type { TableField } from './hpack/table.ts';

/** What a field of a message means to the reader of header sections. */
export const kinds = {
  regular: 0,
  malformed: 1,
  cookie: 2,
  contentLength: 3,
  host: 4,
  method: 5,
  scheme: 6,
  authority: 7,
  path: 8,
  protocol: 9,
  status: 10,
} as const;

/** Kinds from this one on are pseudo-header fields. */
export const firstPseudoKind = kinds.method;

// A name in lower case (RFC 9113 section 8.2.1).
const fieldName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const fieldValue = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;
const digits = /^[0-9]{1,15}$/;

/** Fields that have no place in HTTP/2 (RFC 9113 section 8.2.2). */
const connectionSpecific: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** Pseudo-header fields (RFC 9113 section 8.3; RFC 8441 section 4), and their valid values. An authority has no user. */
const pseudoFields: ReadonlyMap<string, { readonly kind: number; readonly value: RegExp }> = new Map([
  [':method', { kind: kinds.method, value: /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/ }],
  [':scheme', { kind: kinds.scheme, value: /^[A-Za-z][A-Za-z0-9+.-]*$/ }],
  [':authority', { kind: kinds.authority, value: /^[A-Za-z0-9\-._~!$&'()*+,;=:[\]%]*$/ }],
  [':path', { kind: kinds.path, value: /^[\x21-\x7e\x80-\xff]+$/ }],
  [':protocol', { kind: kinds.protocol, value: /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/ }],
  [':status', { kind: kinds.status, value: /^[1-9][0-9]{2}$/ }],
]);

/** The kind of a field, `malformed` if no message may have it (RFC 9113 sections 8.2 and 8.3). */
export function kindOf({ name, value }: TableField): number {
  const pseudo = pseudoFields.get(name);
  if (pseudo !== undefined) return pseudo.value.test(value) ? pseudo.kind : kinds.malformed;
  if (!fieldName.test(name) || !fieldValue.test(value) || connectionSpecific.has(name)) return kinds.malformed;
  switch (name) {
    case 'te':
      return value.toLowerCase() === 'trailers' ? kinds.regular : kinds.malformed;
    case 'content-length':
      return digits.test(value) ? kinds.contentLength : kinds.malformed;
    case 'cookie':
      return kinds.cookie;
    case 'host':
      return kinds.host;
    default:
      return kinds.regular;
  }
}
