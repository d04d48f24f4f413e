import type { IncomingMessage } from 'node:http';
import { hostFromHeader } from '../../core/text/hostname.ts';
import { normalizePath } from '../../core/text/path.ts';
import type { RouteRequest } from '../../core/routing/table.ts';
import { editFields, type HeaderEdits } from '../../core/routing/decision/header-edits.ts';
import { hopsIn } from '../../core/text/via.ts';
import { listItems, nameKey } from '../../core/text/fields.ts';
import type { Fields } from './forwarder.ts';
import { LastRead } from './last-read.ts';
import { memoryOf, textLengthOf } from '../limits/field-memory.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import type { AnswerReason } from './reasons.ts';

const digits = /^[0-9]{1,15}$/;

/** Values of a section that are kept. The names of fields in matches are not limited. */
const maxValues = 32;

/** Lookups after which reading all values of a request costs less than to look for further ones in its fields. */
const maxSearches = 32;

const lastFields = new LastRead(allValues);
const lastQuery = new LastRead(firstParameters);

/** A target is kept as received, as a path, and as sent. */
const formsOfTarget = 3;

/** A parsed request. HTTP/2 pseudo-header fields are converted to method, URL and Host. */
export interface RawRequest extends Pick<IncomingMessage, 'httpVersion' | 'method' | 'url'> {
  readonly rawHeaders: Fields;
}

/** The parsed head of a request, for routing and forwarding. */
export class RequestHead implements RouteRequest {
  readonly method: string;
  readonly host: string;
  /** Host and port as sent by the client, `''` if there is none. */
  readonly authority: string;
  readonly path: string;
  /** The query as received, with its question mark, or `''`. */
  readonly search: string;
  readonly httpVersion: string;
  readonly fields: Fields;
  /** Lower-case names of `fields`, at half their index. */
  readonly names: readonly string[];
  /** The fields as received, and the changes by filters of the listener since then, in order. */
  readonly received: ReceivedFields;
  readonly edits: readonly HeaderEdits[];
  /** Length of the body in bytes, `undefined` for a chunked body. */
  readonly contentLength: number | undefined;
  /** The part that requests with the same fields share. */
  readonly section: FieldSection;
  /** How often its fields were searched. */
  private searches = 0;

  constructor(message: RawRequest, section: FieldSection, target: Target, edited?: Edited) {
    this.method = message.method ?? 'GET';
    this.host = target.host;
    this.authority = target.authority;
    this.path = target.path;
    this.search = target.search;
    this.httpVersion = message.httpVersion;
    this.fields = message.rawHeaders;
    this.names = section.names;
    this.contentLength = section.contentLength;
    this.section = section;
    this.received = edited?.received ?? this;
    this.edits = edited?.edits ?? [];
  }

  /** The head after changes by a filter of the listener: routes match the changed fields. */
  with(change: HeaderEdits): RequestHead {
    const { method, httpVersion, received, edits } = this;
    const rawHeaders = editFields([...this.fields], [change]);
    const message = { method, httpVersion, rawHeaders };
    const edited = { received, edits: [...edits, change] };
    const names = lowerCaseNames(rawHeaders);
    const section = { ...this.section, fields: rawHeaders, names, values: undefined, forwarded: undefined };
    return new RequestHead(message, section, this, edited);
  }

  get hasBody(): boolean {
    return this.contentLength !== 0;
  }

  /** About the memory in bytes that the head takes until the request is over. */
  get memory(): number {
    const target = this.path.length + this.search.length;
    return this.section.memory + formsOfTarget * target;
  }

  /** Max-Forwards of OPTIONS and TRACE, the only methods that use it (RFC 9110 section 7.6.2). */
  get remainingHops(): number | undefined {
    if (this.method !== 'OPTIONS' && this.method !== 'TRACE') return undefined;
    const value = this.header('max-forwards');
    return value !== undefined && digits.test(value) ? Number(value) : undefined;
  }

  /** How often the request has passed through proxies of this kind. */
  get hops(): number {
    return (this.section.hops ??= hopsIn(listed(this.received, 'via')));
  }

  get asksForUpgrade(): boolean {
    return this.header('upgrade') !== undefined;
  }

  header(lowerName: string): string | undefined {
    const { values } = this.section;
    const known = values?.get(lowerName);
    if (known !== undefined) return known ?? undefined;
    const value = this.find(lowerName);
    if (values !== undefined && values.size < maxValues) values.set(lowerName, value ?? null);
    return value;
  }

  private find(lowerName: string): string | undefined {
    if (this.searches === maxSearches) return lastFields.valuesOf(this).get(lowerName);
    this.searches += 1;
    const position = this.names.indexOf(lowerName);
    if (position === -1) return undefined;
    const isRepeated = this.names.includes(lowerName, position + 1);
    return isRepeated ? lastFields.valuesOf(this).get(lowerName) : this.fields[position * 2 + 1];
  }

  query(name: string): string | undefined {
    return lastQuery.valuesOf(this.search).get(name);
  }
}

/** The first value of each parameter in a query. */
function firstParameters(search: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(search)) if (!values.has(name)) values.set(name, value);
  return values;
}

/** The values of all fields by their lower-case name, each as in `listed`. */
function allValues({ fields, names }: ReceivedFields): Map<string, string> {
  const values = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const value = fields[index * 2 + 1] ?? '';
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return values;
}

/** Returns the values of all fields with a name as one list (RFC 9110 section 5.3). */
function listed({ fields, names }: ReceivedFields, lowerName: string): string | undefined {
  let value: string | undefined;
  for (let position = names.indexOf(lowerName); position !== -1; position = names.indexOf(lowerName, position + 1)) {
    const next = fields[position * 2 + 1] ?? '';
    value = value === undefined ? next : `${value}, ${next}`;
  }
  return value;
}

interface Target {
  readonly host: string;
  readonly authority: string;
  readonly path: string;
  readonly search: string;
}

interface ReceivedFields {
  readonly fields: Fields;
  readonly names: readonly string[];
}

type Edited = Pick<RequestHead, 'received' | 'edits'>;

/** The parts of a head that only its fields and its version determine. Heads of one connection with the same fields share it. */
export interface FieldSection extends ReceivedFields {
  readonly httpVersion: string;
  /** About the memory in bytes that the fields take. */
  readonly memory: number;
  readonly contentLength: number | undefined;
  /** Host as received, and the hostname in it; `undefined` if it is invalid. */
  readonly authority: string;
  readonly host: string | undefined;
  /** Values that were read, `null` for absent fields. Only after a second request with this section. */
  values: Map<string, string | null> | undefined;
  /** The number of proxies of this kind that the request has passed, once it was read. */
  hops: number | undefined;
  /** The fields of the last request with this section for a backend. */
  forwarded: ForwardedFields | undefined;
}

/** Fields for a backend, and everything that determines them besides the received fields and the connection. */
interface ForwardedFields {
  readonly fields: Fields;
  readonly backend: object;
  readonly authority: string;
  readonly policy: string;
  /** Whether the fields were sent again. */
  isRepeated: boolean;
}

/**
 * Reads the head of an HTTP/1 request, or returns the reason why it must not be served. The parser has already rejected
 * violations of the RFC 9112 grammar. The rules here need the whole header section, above all those against request
 * smuggling (RFC 9112 sections 3.2 and 6.1). `previous` is the section of an earlier request on the connection: if both have
 * the same array of fields, these are not read again.
 */
export function readHttp1Head(
  message: RawRequest,
  limits: ProxyLimits,
  previous?: FieldSection,
): RequestHead | AnswerReason {
  const url = message.url ?? '';
  if (url.length > limits.targetBytes) return 'target-too-long';
  const isKnown = previous?.fields === message.rawHeaders && previous.httpVersion === message.httpVersion;
  if (!isKnown) return headOf(message, url, readSection(message, 0, limits));
  previous.values ??= new Map();
  return headOf(message, url, previous);
}

/**
 * Reads the head of an HTTP/2 request, or returns the reason why it must not be served. `hasNoBody`: the stream ended
 * with the head. Otherwise the body continues to the end of the stream if there is no Content-Length. `previous` is as in
 * `readHttp1Head`.
 */
export function readHttp2Head(
  message: RawRequest,
  hasNoBody: boolean,
  limits: ProxyLimits,
  previous?: FieldSection,
): RequestHead | AnswerReason {
  // RFC 9113 section 8.3.1: `:path` has no authority.
  if (message.url !== '*' && message.url?.startsWith('/') !== true) return 'bad-target';
  const url = message.url ?? '';
  if (url.length > limits.targetBytes) return 'target-too-long';
  const isKnown = previous?.fields === message.rawHeaders && hasNoBody === (previous.contentLength === 0);
  return headOf(message, url, isKnown ? previous : readSection(message, hasNoBody ? 0 : undefined, limits));
}

function headOf(message: RawRequest, url: string, section: FieldSection | AnswerReason): RequestHead | AnswerReason {
  if (typeof section === 'string') return section;
  const target = url === '*' ? asteriskTarget(message, section) : readTarget(url, section);
  return typeof target === 'string' ? target : new RequestHead(message, section, target);
}

function readSection(
  message: RawRequest,
  impliedLength: 0 | undefined,
  limits: ProxyLimits,
): FieldSection | AnswerReason {
  if (message.rawHeaders.length > limits.headerCount * 2 || textLengthOf(message.rawHeaders) > limits.headerBytes)
    return 'headers-too-large';
  const names = lowerCaseNames(message.rawHeaders);
  const contentLength = readFraming(message, names, impliedLength);
  if (typeof contentLength === 'string') return contentLength;
  const authority = readHost(message, names);
  if (authority === undefined) return 'bad-host';
  return {
    fields: message.rawHeaders,
    memory: memoryOf(message.rawHeaders),
    names,
    httpVersion: message.httpVersion,
    contentLength,
    authority,
    host: hostFromHeader(authority),
    values: undefined,
    hops: undefined,
    forwarded: undefined,
  };
}

function lowerCaseNames(fields: Fields): string[] {
  const names: string[] = [];
  for (let position = 0; position < fields.length; position += 2) names.push(nameKey(fields[position] ?? ''));
  return names;
}

/** Returns the value of the only field of a name; `several` if there are more. */
function onlyValue(
  { rawHeaders }: RawRequest,
  names: readonly string[],
  wanted: string,
): { readonly value: string } | 'several' | undefined {
  const index = names.indexOf(wanted);
  if (index === -1) return undefined;
  return names.includes(wanted, index + 1) ? 'several' : { value: rawHeaders[index * 2 + 1] ?? '' };
}

function readFraming(
  message: RawRequest,
  names: readonly string[],
  impliedLength: 0 | undefined,
): number | undefined | AnswerReason {
  const coding = onlyValue(message, names, 'transfer-encoding');
  const length = onlyValue(message, names, 'content-length');
  if (coding === undefined && length === undefined) return impliedLength;
  if (coding === 'several' || length === 'several') return 'bad-framing';
  if (length !== undefined) {
    if (coding !== undefined || !digits.test(length.value)) return 'bad-framing';
    return Number(length.value);
  }
  // HTTP/1.0 does not define it, and an intermediary might see a different body.
  if (message.httpVersion !== '1.1') return 'bad-framing';
  const codings = listItems(coding?.value ?? '');
  if (codings.at(-1) !== 'chunked') return 'bad-framing';
  return codings.length === 1 ? undefined : 'transfer-coding-unsupported';
}

/** Returns the value of the only Host field; `''` for HTTP/1.0 without one. */
function readHost(message: RawRequest, names: readonly string[]): string | undefined {
  const host = onlyValue(message, names, 'host');
  if (host === undefined) return message.httpVersion === '1.0' ? '' : undefined;
  return host === 'several' ? undefined : host.value;
}

const absoluteForm = /^https?:\/\/(?<authority>[^/?#]*)(?<rest>(?:[/?#].*)?)$/is;

/** Parses the origin form, or the absolute form, whose authority replaces Host (RFC 9112 section 3.2.2). */
function readTarget(url: string, section: FieldSection): Target | AnswerReason {
  let { authority, host } = section;
  let rest = url;
  if (!url.startsWith('/')) {
    const groups = absoluteForm.exec(url)?.groups;
    if (groups === undefined) return 'bad-target';
    authority = groups['authority'] ?? '';
    rest = groups['rest'] ?? '';
    if (!rest.startsWith('/')) rest = `/${rest}`;
    if (authority === '' || host === undefined) return 'bad-host';
    host = hostFromHeader(authority);
  }
  if (host === undefined) return 'bad-host';
  if (rest.includes('#')) return 'bad-target';
  const question = rest.indexOf('?');
  const normalized = normalizePath(question === -1 ? rest : rest.slice(0, question));
  if (!normalized.ok) return 'bad-target';
  return { host, authority, path: normalized.path, search: question === -1 ? '' : rest.slice(question) };
}

/** `OPTIONS *` is for the server itself; other methods must not have this target (RFC 9112 section 3.2.4). */
function asteriskTarget({ method }: RawRequest, { authority, host }: FieldSection): Target | AnswerReason {
  if (method !== 'OPTIONS') return 'bad-target';
  return host === undefined ? 'bad-host' : { host, authority, path: '*', search: '' };
}
