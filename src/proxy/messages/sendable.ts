import { connectionFields, fieldsWhere, nameKey, withoutBlanks } from '../../core/text/fields.ts';
import type { Fields } from './forwarder.ts';
import { repeatedInLowerCase, repeatedLines } from './repeated.ts';

/**
 * Validates all statuses, fields and trailers that are forwarded from one side to the other, and whether there is
 * content, before Node gets them. Node throws on invalid ones, partly long after the call.
 */

/** A message that cannot be sent. It comes from outside, so it is not a bug of this program. */
export class Unsendable extends Error {}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const neverInValue = /[^\t\x20-\x7e\x80-\xff]/;
const neverInTarget = /[^\x21-\x7e\x80-\xff]/;

/** HTTP/2 has none of these. `te` may be `trailers`. */
const connectionSpecific: ReadonlySet<string> = new Set(connectionFields);

/** Fields for framing, routing or authentication, in lower case, which trailers must not contain (RFC 9110 section 6.5.1). */
const neverInTrailers: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'expect',
  'host',
  'set-cookie',
  'te',
  'trailer',
]);

/** Whether a status is a final one (RFC 9110 section 15). No version of HTTP can send others. */
export function isFinalStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 200 && status <= 599;
}

/** Whether a status may precede the final one (RFC 9110 section 15.2). 101 switches protocols and is not included. */
export function isInterimStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 100 && status <= 199 && status !== 101;
}

/** Whether a response has no content, regardless of its fields (RFC 9110 sections 6.4.1 and 15.3.6). */
export function hasNoContent(method: string, status: number): boolean {
  return method === 'HEAD' || status < 200 || status === 204 || status === 205 || status === 304;
}

/** Whether HTTP can carry a field: the name is a token, the value has no control characters (RFC 9110 section 5). */
export function isField(name: string, value: string): boolean {
  return token.test(name) && !neverInValue.test(value);
}

/** Whether a request line can carry a method and a target (RFC 9112 section 3). */
export function isRequestLine(method: string, target: string): boolean {
  return token.test(method) && target !== '' && !neverInTarget.test(target);
}

/**
 * Returns the lines of the fields of a final response to an HTTP/1 client, without connection-specific fields.
 *
 * @throws Unsendable
 */
export function http1Lines(status: number, fields: Fields): string {
  if (!isFinalStatus(status)) throw new Unsendable(`status ${status}`);
  const lines = linesOf(fields);
  if (lines === undefined) throw invalidField(fields);
  return lines;
}

/** Returns the lines of fields (RFC 9112 section 5), or `undefined` if HTTP cannot carry all of them. */
export function linesOf(fields: Fields): string | undefined {
  return repeatedLines(fields, checkedText);
}

function checkedText(fields: Fields): string | undefined {
  return areFields(fields) ? fieldText(fields) : undefined;
}

/** The lines of fields that were checked. */
export function fieldText(fields: Fields): string {
  let text = '';
  for (let position = 0; position < fields.length; position += 2)
    text += `${fields[position] ?? ''}: ${fields[position + 1] ?? ''}\r\n`;
  return text;
}

/**
 * Returns the fields of a response that switches the protocol of an HTTP/1.1 connection, without those that describe a
 * body (RFC 9110 section 15.2.2).
 *
 * @throws Unsendable
 */
export function switchFields(fields: Fields): string[] {
  return without(fields, (key) => connectionSpecific.has(key) || key === 'content-length' || key === 'trailer');
}

/**
 * Returns the fields of an interim response, without those that describe content.
 *
 * @throws Unsendable
 */
export function interimFields(fields: Fields): string[] {
  return switchFields(fields);
}

/** Returns the trailers without forbidden and invalid ones. */
export function sendableTrailers(fields: Fields): string[] {
  const kept: string[] = [];
  for (let position = 0; position < fields.length; position += 2) {
    const name = fields[position] ?? '';
    const value = fields[position + 1] ?? '';
    const key = nameKey(name);
    if (isField(name, value) && !connectionSpecific.has(key) && !neverInTrailers.has(key)) kept.push(name, value);
  }
  return kept;
}

/**
 * Returns the fields of a request in HTTP/2, without Host, whose place is `:authority`. The same array again for repeated
 * fields.
 *
 * @throws Unsendable on fields that HTTP/2 cannot carry
 */
export function http2RequestFields(fields: Fields): Fields {
  return repeatedInLowerCase(fields, lowerCaseRequestFields);
}

function lowerCaseRequestFields(fields: Fields): Fields {
  return fieldsWhere(lowerCaseFields(fields), (name) => name !== 'host');
}

/**
 * Returns the fields of a final response in HTTP/2.
 *
 * @throws Unsendable
 */
export function http2Head(status: number, fields: Fields): Fields {
  if (!isFinalStatus(status)) throw new Unsendable(`status ${status}`);
  return http2Fields(fields);
}

/**
 * Returns the fields with names in lower case. The same array again for repeated fields.
 *
 * @throws Unsendable on fields that HTTP/2 cannot carry
 */
export function http2Fields(fields: Fields): Fields {
  return repeatedInLowerCase(fields, lowerCaseFields);
}

function lowerCaseFields(fields: Fields): Fields {
  if (!areFields(fields)) throw invalidField(fields);
  const converted: string[] = [];
  for (let position = 0; position < fields.length; position += 2) {
    const name = nameKey(fields[position] ?? '');
    const value = fields[position + 1] ?? '';
    if (connectionSpecific.has(name) || (name === 'te' && value !== 'trailers')) throw new Unsendable(`field ${name}`);
    // HTTP/2 values neither begin nor end with spaces or tabs (RFC 9113 section 8.2.1).
    converted.push(name, withoutBlanks(value));
  }
  return converted;
}

/** Whether HTTP can carry all of the fields, as in `isField`. Two tests of joined text cost less than two per field. */
function areFields(fields: Fields): boolean {
  let names = '';
  let values = '';
  for (let position = 0; position < fields.length; position += 2) {
    const name = fields[position] ?? '';
    if (name === '') return false;
    names += name;
    values += fields[position + 1] ?? '';
  }
  return names === '' || (token.test(names) && !neverInValue.test(values));
}

function invalidField(fields: Fields): Unsendable {
  const name = fields.find((text, position) => position % 2 === 0 && !isField(text, fields[position + 1] ?? ''));
  return new Unsendable(`field ${name}`);
}

function without(fields: Fields, leavesOut: (key: string) => boolean): string[] {
  if (!areFields(fields)) throw invalidField(fields);
  const kept: string[] = [];
  for (let position = 0; position < fields.length; position += 2) {
    const name = fields[position] ?? '';
    if (!leavesOut(nameKey(name))) kept.push(name, fields[position + 1] ?? '');
  }
  return kept;
}
