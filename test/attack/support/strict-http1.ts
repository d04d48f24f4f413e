/**
 * A strict reader of HTTP/1.1 requests (RFC 9112), written apart from the proxy and its parser: the oracle of the attacks
 * with requests. It reads what a client sends and what a backend receives.
 */

/** Names in lower case, values, and the lines as they came. */
export type FieldLines = readonly (readonly [name: string, value: string, line: string])[];

/** A request as a strict reader understands it. */
export interface StrictRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly fields: FieldLines;
  readonly trailers: FieldLines;
  readonly body: Buffer;
  /** Position behind its last byte. */
  readonly end: number;
  /** A server may refuse it: the grammar leaves room, or the server need not know a part of it. */
  readonly isOptional: boolean;
  /** Nothing behind it belongs to the same connection of requests. */
  readonly isLast: boolean;
}

/**
 * The request at the beginning of the bytes. `partial`: it has not ended, with the head where that has. `malformed`: no server
 * may serve it, with the head where only the body is bad.
 */
export type StrictReading =
  | { readonly kind: 'whole'; readonly request: StrictRequest }
  | { readonly kind: 'partial' | 'malformed'; readonly head: StrictHead | undefined };

export type StrictHead = Omit<StrictRequest, 'body' | 'end' | 'trailers'>;

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const fieldText = /^[\t\x20-\x7e\x80-\xff]*$/;
const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);
const plainTarget = /^\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*(?:\?[A-Za-z0-9\-._~!$&'()*+,;=:@/?%]*)?$/;
const plainHost = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9]+)*(?::[0-9]{1,4})?$/;
const possibleHost = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::[0-9]{0,5})?$/;

class Malformed extends Error {}
class Partial extends Error {}

/** Reads the request that the bytes (as latin1) begin with at a position. */
export function readStrictly(bytes: string, from = 0): StrictReading {
  let head: StrictHead | undefined;
  try {
    const lines = new Lines(bytes, from);
    const read = readHead(lines);
    head = read.head;
    const { body, trailers, isPlain } = readBody(lines, read.framing);
    // Node's parser heeds Connection among the trailers, too: the connection ends.
    const isLast = head.isLast || endsConnection(trailers, '1.1');
    return {
      kind: 'whole',
      request: {
        ...head,
        isLast,
        isOptional: head.isOptional || !isPlain,
        body: Buffer.from(body, 'latin1'),
        trailers,
        end: lines.position,
      },
    };
  } catch (error) {
    if (error instanceof Partial) return { kind: 'partial', head };
    if (error instanceof Malformed) return { kind: 'malformed', head };
    throw error;
  }
}

/** Lines that end in CRLF and nothing else. */
class Lines {
  readonly bytes: string;
  position: number;

  constructor(bytes: string, position: number) {
    this.bytes = bytes;
    this.position = position;
  }

  next(): string {
    const end = this.bytes.indexOf('\r\n', this.position);
    const line = this.bytes.slice(this.position, end === -1 ? undefined : end);
    // A last CR may be the first half of the end of the line.
    if (/[\n\0]|\r(?!$)/.test(line) || (end !== -1 && line.includes('\r'))) throw new Malformed('a bare CR, LF or NUL');
    if (end === -1) throw new Partial('a line without end');
    this.position = end + 2;
    return line;
  }

  take(count: number): string {
    const taken = this.bytes.slice(this.position, this.position + count);
    if (taken.length < count) throw new Partial('bytes are missing');
    this.position += count;
    return taken;
  }
}

type Framing = { readonly kind: 'length'; readonly length: number } | { readonly kind: 'chunks' };

function readHead(lines: Lines): { readonly head: StrictHead; readonly framing: Framing } {
  const begin = lines.position;
  // RFC 9112 section 2.2: empty lines in front of a request line are ignored.
  // A single LF may count as one, and several blanks as a single one (section 3).
  lines.position += /^[\r\n]*/.exec(lines.bytes.slice(begin, begin + 10))?.[0].length ?? 0;
  const line = lines.next();
  // Node's parser takes ICE/1.0 and RTSP/1.0 for HTTP/1.0.
  const groups =
    /^(?<method>[^ ]+) +(?<target>[^ ]+) +(?:HTTP\/(?=1\.[01])|(?:ICE|RTSP)\/(?=1\.0))(?<version>1\.[01])$/.exec(
      line,
    )?.groups;
  if (groups === undefined) throw new Malformed('the request line');
  const isPlain = lines.position === begin + line.length + 2 && !/ {2}| (?:ICE|RTSP)/.test(line);
  const { method = '', target = '', version = '' } = groups;
  if (!token.test(method)) throw new Malformed('the method');
  const fields = readFields(lines);
  const framing = framingOf(fields, version);
  const host = hostOf(fields, version);
  const isEasyTarget = judgeTarget(method, target);
  // Parsers differ in whether a tab may follow a coding.
  const isOptional =
    !isPlain ||
    fields.some(([name, , raw]) => name === 'transfer-encoding' && raw.includes('\t')) ||
    !isEasyTarget ||
    !knownMethods.has(method) ||
    !plainHost.test(host);
  return { head: { method, target, version, fields, isOptional, isLast: endsConnection(fields, version) }, framing };
}

function readFields(lines: Lines): [string, string, string][] {
  const fields: [string, string, string][] = [];
  for (let line = lines.next(); line !== ''; line = lines.next()) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    if (!token.test(name) || !fieldText.test(line.slice(colon + 1))) throw new Malformed('a field line');
    fields.push([name.toLowerCase(), line.slice(colon + 1).replace(/^[\t ]+|[\t ]+$/g, ''), line]);
  }
  return fields;
}

function valuesOf(fields: FieldLines, wanted: string): string[] {
  return fields.filter(([name]) => name === wanted).map(([, value]) => value);
}

function framingOf(fields: FieldLines, version: string): Framing {
  const codings = valuesOf(fields, 'transfer-encoding');
  const lengths = valuesOf(fields, 'content-length');
  if (codings.length + lengths.length > 1) throw new Malformed('several fields that frame');
  const [coding] = codings;
  const [length] = lengths;
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked' || version === '1.0') throw new Malformed('Transfer-Encoding');
    return { kind: 'chunks' };
  }
  if (length === undefined) return { kind: 'length', length: 0 };
  if (!/^[0-9]{1,15}$/.test(length)) throw new Malformed('Content-Length');
  return { kind: 'length', length: Number(length) };
}

function hostOf(fields: FieldLines, version: string): string {
  const hosts = valuesOf(fields, 'host');
  if (hosts.length > 1 || (hosts.length === 0 && version === '1.1')) throw new Malformed('Host is not there once');
  const [host = 'absent'] = hosts;
  if (!possibleHost.test(host)) throw new Malformed('Host');
  return host;
}

/** Whether a target has the form in which every backend takes it. */
export function isPlainTarget(target: string): boolean {
  return plainTarget.test(target);
}

/** Whether a target is one that every server takes; fails for one that none may take. */
function judgeTarget(method: string, target: string): boolean {
  if (/[^\x21-\x7e]|#/.test(target)) throw new Malformed('the target');
  if (plainTarget.test(target)) return true;
  if (target === '*') {
    if (method !== 'OPTIONS') throw new Malformed('an asterisk');
    return true;
  }
  if (target.startsWith('/')) return false;
  const authority = /^https?:\/\/(?<authority>[^/?]*)/i.exec(target)?.groups?.['authority'];
  if (authority === undefined || authority === '' || !possibleHost.test(authority)) throw new Malformed('the target');
  return plainHost.test(authority) && plainTarget.test(target.replace(/^https?:\/\/[^/?]*/i, ''));
}

function endsConnection(fields: FieldLines, version: string): boolean {
  const options = new Set(
    valuesOf(fields, 'connection')
      .join(',')
      .toLowerCase()
      .split(',')
      .map((option) => option.trim()),
  );
  return options.has('close') || (version === '1.0' && !options.has('keep-alive'));
}

interface Body {
  readonly body: string;
  readonly trailers: FieldLines;
  readonly isPlain: boolean;
}

const chunkHead = /^(?<zeros>0*)(?<size>[0-9A-Fa-f]{1,12})(?<extensions>.*)$/;
const extension =
  /^(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[\t\x20!#-[\]-~\x80-\xff]|\\[\t\x20-~\x80-\xff])*"))?)*$/;
/** Blanks around the parts, which old grammars allow. */
const looseExtension = /^[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;

/** RFC 9110 section 6.5.1: they frame or route. */
const neverInTrailers: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'host']);

function readBody(lines: Lines, framing: Framing): Body {
  if (framing.kind === 'length') return { body: lines.take(framing.length), trailers: [], isPlain: true };
  let body = '';
  let isPlain = true;
  for (;;) {
    const chunk = readChunkHead(lines.next());
    isPlain &&= chunk.isPlain;
    if (chunk.length === 0) break;
    body += lines.take(chunk.length);
    const gap = lines.bytes.slice(lines.position, lines.position + 2);
    if (!'\r\n'.startsWith(gap)) throw new Malformed('a chunk without end');
    lines.take(2);
  }
  const trailers = readFields(lines);
  return { body, trailers, isPlain: isPlain && !trailers.some(([name]) => neverInTrailers.has(name)) };
}

function readChunkHead(line: string): { readonly length: number; readonly isPlain: boolean } {
  const { zeros = '', size, extensions = '' } = chunkHead.exec(line)?.groups ?? {};
  if (size === undefined) throw new Malformed('a chunk size');
  const isStrict = extension.test(extensions);
  if (!isStrict && !looseExtension.test(extensions)) throw new Malformed('a chunk extension');
  // Long extensions and leading zeros may go beyond what a server takes.
  return {
    length: Number.parseInt(size, 16),
    isPlain: isStrict && extensions.length <= 1_000 && zeros.length + size.length <= 8,
  };
}

/** A final response as a client reads it. */
export interface StrictResponse {
  readonly status: number;
  readonly fields: FieldLines;
  readonly body: string;
}

/**
 * The final responses in what a client received, which asked with these methods; `rest` is what is left over: an incomplete
 * response, or bytes that no request asked for.
 */
export function readResponses(
  bytes: string,
  methods: readonly string[],
): { readonly responses: StrictResponse[]; readonly rest: string } {
  const responses: StrictResponse[] = [];
  let position = 0;
  try {
    while (position < bytes.length) {
      const lines = new Lines(bytes, position);
      const status = /^HTTP\/1\.1 (?<status>[0-9]{3}) [\t\x20-\x7e]*$/.exec(lines.next())?.groups?.['status'];
      if (status === undefined) break;
      const fields = readFields(lines);
      const isFinal = Number(status) >= 200;
      const hasBody = isFinal && status !== '204' && status !== '304' && methods[responses.length] !== 'HEAD';
      const { body } = hasBody ? readBody(lines, framingOf(fields, '1.1')) : { body: '' };
      if (isFinal) responses.push({ status: Number(status), fields, body });
      position = lines.position;
    }
  } catch (error) {
    if (!(error instanceof Partial || error instanceof Malformed)) throw error;
  }
  return { responses, rest: bytes.slice(position) };
}
