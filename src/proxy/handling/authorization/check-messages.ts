import { isUtf8 } from 'node:buffer';
import type { Fields } from '../../messages/forwarder.ts';
import { bytesIn, delimitedField, MalformedMessage, numberField, numberIn, readFields } from './protobuf.ts';
import type { WireField } from './protobuf.ts';
import { nameKey } from '../../../core/text/fields.ts';

// Messages of `envoy.service.auth.v3`, external_auth.proto and attribute_context.proto, by field number.

/** The attributes of a request that an authorization server gets (AttributeContext.HttpRequest). */
export interface CheckedRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly host: string;
  readonly scheme: string;
  /** For example `HTTP/1.1`. */
  readonly protocol: string;
  /** Bytes of the client's body; `undefined` if unknown. */
  readonly size: number | undefined;
  /** One character per byte. */
  readonly headers: Fields;
  readonly body: Buffer;
  /** The address of the client. */
  readonly source: string;
}

/** Encodes a CheckRequest. */
export function encodeCheckRequest(request: CheckedRequest): Buffer {
  const { method, path, host, scheme, size = -1, protocol, body, source } = request;
  const http = [
    delimitedField(2, method),
    ...headerEntries(request),
    delimitedField(4, utf8(path)),
    delimitedField(5, utf8(host)),
    delimitedField(6, scheme),
    numberField(9, size),
    delimitedField(10, protocol),
    ...(body.length === 0 ? [] : [delimitedField(isUtf8(body) ? 11 : 12, body)]),
  ];
  // Address.socket_address.address
  const peer = delimitedField(1, delimitedField(1, delimitedField(2, source)));
  const attributes = [delimitedField(1, peer), delimitedField(4, delimitedField(2, Buffer.concat(http)))];
  return delimitedField(1, Buffer.concat(attributes));
}

/** Encodes the headers map: one entry per name, values of repeated fields joined, and the request line as HTTP/2 pseudo-header fields. */
function headerEntries({ method, path, host, scheme, headers }: CheckedRequest): readonly Buffer[] {
  const entries = new Map([
    [':authority', host],
    [':method', method],
    [':path', path],
    [':scheme', scheme],
  ]);
  for (let position = 0; position < headers.length; position += 2) {
    const name = nameKey(headers[position] ?? '');
    const value = headers[position + 1] ?? '';
    const before = entries.get(name);
    entries.set(name, before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ','}${value}`);
  }
  return [...entries].map(([name, value]) =>
    delimitedField(3, Buffer.concat([delimitedField(1, name), delimitedField(2, utf8(value))])),
  );
}

/** Converts bytes to a string field, which must be UTF-8: invalid bytes are replaced. */
function utf8(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}

/** A header that a server sets or appends (HeaderValueOption); one character per byte. */
export interface HeaderOption {
  readonly name: string;
  readonly value: string;
  readonly appends: boolean;
}

/** A CheckResponse. */
export type CheckResponse =
  | {
      readonly type: 'ok';
      readonly headers: readonly HeaderOption[];
      readonly removed: readonly string[];
      readonly responseHeaders: readonly HeaderOption[];
    }
  /** `status` 0: the server specifies none. */
  | {
      readonly type: 'denied';
      readonly status: number;
      readonly headers: readonly HeaderOption[];
      readonly body: Buffer;
    };

/**
 * Decodes a CheckResponse. A response without `status` does not count as permission.
 *
 * @throws MalformedMessage if the message is malformed, contradicts itself, or requests an unsupported change (of the
 * query)
 */
export function decodeCheckResponse(message: Buffer): CheckResponse {
  const { 1: status, 2: denied, 3: ok, 5: error } = singularFields(message, [1, 2, 3, 5]);
  if (status === undefined) throw new MalformedMessage('no status');
  const code = singularFields(bytesIn(status), [1])[1];
  if (code !== undefined && numberIn(code) !== 0)
    return decodeDenied(denied === undefined ? Buffer.alloc(0) : bytesIn(denied));
  if (denied !== undefined || error !== undefined) throw new MalformedMessage('denied with the status OK');
  return decodeOk(ok === undefined ? Buffer.alloc(0) : bytesIn(ok));
}

function decodeDenied(message: Buffer): CheckResponse {
  let status = 0;
  let body = Buffer.alloc(0);
  const headers: HeaderOption[] = [];
  for (const field of readFields(message)) {
    if (field.number === 1) status = optionalNumber(singularFields(bytesIn(field), [1])[1]);
    else if (field.number === 2) headers.push(decodeHeader(bytesIn(field), 'request'));
    else if (field.number === 3) body = Buffer.from(bytesIn(field));
  }
  return { type: 'denied', status, headers, body };
}

function decodeOk(message: Buffer): CheckResponse {
  const headers: HeaderOption[] = [];
  const removed: string[] = [];
  const responseHeaders: HeaderOption[] = [];
  for (const field of readFields(message)) {
    if (field.number === 2) headers.push(decodeHeader(bytesIn(field), 'request'));
    else if (field.number === 5) removed.push(bytesIn(field).toString('latin1'));
    else if (field.number === 6) responseHeaders.push(decodeHeader(bytesIn(field), 'response'));
    else if (field.number === 7 || field.number === 8) throw new MalformedMessage('changes of the query');
  }
  return { type: 'ok', headers, removed, responseHeaders };
}

/** By default, response headers are appended and request headers replaced, as in Envoy. */
function decodeHeader(message: Buffer, of: 'request' | 'response'): HeaderOption {
  const { 1: header, 2: append, 3: action } = singularFields(message, [1, 2, 3]);
  if (header === undefined) throw new MalformedMessage('no header');
  const { 1: key, 2: value, 3: raw } = singularFields(bytesIn(header), [1, 2, 3]);
  const appends =
    append === undefined
      ? of === 'response' && appendsBy(optionalNumber(action))
      : optionalNumber(singularFields(bytesIn(append), [1])[1]) !== 0;
  const name = key === undefined ? '' : bytesIn(key).toString('latin1');
  const chosen = value ?? raw;
  return { name, value: chosen === undefined ? '' : bytesIn(chosen).toString('latin1'), appends };
}

/** HeaderAppendAction: APPEND_IF_EXISTS_OR_ADD, or OVERWRITE_IF_EXISTS_OR_ADD. */
function appendsBy(action: number): boolean {
  if (action !== 0 && action !== 2) throw new MalformedMessage('unsupported action');
  return action === 0;
}

function optionalNumber(field: WireField | undefined): number {
  return field === undefined ? 0 : numberIn(field);
}

/** Returns the fields with these numbers. None of them may repeat. */
function singularFields(message: Buffer, numbers: readonly number[]): Readonly<Partial<Record<number, WireField>>> {
  const fields: Partial<Record<number, WireField>> = {};
  for (const field of readFields(message)) {
    if (!numbers.includes(field.number)) continue;
    if (fields[field.number] !== undefined) throw new MalformedMessage('repeated field');
    fields[field.number] = field;
  }
  return fields;
}
