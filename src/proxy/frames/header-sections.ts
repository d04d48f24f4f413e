import { hostnameKey } from '../../core/text/hostname.ts';
import { standalone } from '../limits/buffered.ts';
import { firstPseudoKind, kindOf, kinds } from './field-kinds.ts';
import { CompressionError, HpackDecoder } from './hpack/decoder.ts';
import type { DecodedField } from './hpack/decoder.ts';
import { fieldSize } from './hpack/table.ts';
import { ConnectionError, errorCodes } from './protocol.ts';

/** The reason why a section must not be used: it is malformed (RFC 9113 section 8.1.1), or exceeds the hard limits. */
export type SectionProblem = 'malformed' | 'too-large';

/** The place of a section in a message. */
type SectionPlace = 'head' | 'trailers';

/** A decoded header section. */
export interface HeaderSection {
  problem: SectionProblem | undefined;
  method: string | undefined;
  scheme: string | undefined;
  authority: string | undefined;
  path: string | undefined;
  protocol: string | undefined;
  status: string | undefined;
  contentLength: number | undefined;
  /** The other fields. In a request, they include Host. The same array again for the same fields as in the last section. */
  fields: readonly string[];
  /** Whether the next section may have the same array. */
  isKept: boolean;
}

/** The fields of the last section that can be used again, and everything that determines them. */
interface KeptFields {
  readonly bytes: Buffer;
  readonly generation: number;
  readonly authority: string | undefined;
  readonly contentLength: number | undefined;
  readonly fields: readonly string[];
}

/** The default size of the dynamic table (RFC 9113 section 6.5.2), which is not changed. */
const tableSize = 4_096;
/** Larger sections are not kept. */
const keptBytes = 2 * 1024;
const pseudoFields = 5;

/**
 * Decodes the header sections of a peer. Most of them send the same fields with each message, and only the path differs:
 * if the bytes of the fields are the same as in the last section, and the dynamic table has not changed, the fields are
 * the same, and are not decoded again.
 */
export class SectionReader {
  private readonly decoder = new HpackDecoder(tableSize);
  private readonly maxBytes: number;
  private readonly maxFields: number;
  /** Of the last head, and the last trailers. */
  private readonly kept: Record<SectionPlace, KeptFields | undefined> = { head: undefined, trailers: undefined };
  private place: SectionPlace = 'head';
  private section: HeaderSection = emptySection();
  private regular: string[] = [];
  private cookies: string[] = [];
  private host: string | undefined;

  /** Sections with more than twice these bytes are not stored, so that smaller ones can get a response. */
  constructor({ headerBytes, headerCount }: { readonly headerBytes: number; readonly headerCount: number }) {
    this.maxBytes = 2 * headerBytes;
    this.maxFields = headerCount + pseudoFields;
  }

  /** Releases the memory of the last section. */
  forget(): void {
    this.kept.head = undefined;
    this.kept.trailers = undefined;
  }

  /** Decodes the section of a request. @throws ConnectionError */
  readRequest(block: Buffer): HeaderSection {
    const section = this.read(block, 'head');
    section.problem ??= section.status === undefined ? requestProblem(section) : 'malformed';
    return section;
  }

  /** Decodes the section of a response, interim or final (RFC 9113 section 8.3.2). @throws ConnectionError */
  readResponse(block: Buffer): HeaderSection {
    const section = this.read(block, 'head');
    if (section.status === undefined || hasRequestFields(section)) section.problem ??= 'malformed';
    return section;
  }

  /** Decodes trailers, which have no pseudo-header fields (RFC 9113 section 8.1). @throws ConnectionError */
  readTrailers(block: Buffer): HeaderSection {
    const section = this.read(block, 'trailers');
    if (section.status !== undefined || hasRequestFields(section)) section.problem ??= 'malformed';
    return section;
  }

  private read(block: Buffer, place: SectionPlace): HeaderSection {
    this.place = place;
    this.section = emptySection();
    this.regular = [];
    this.cookies = [];
    this.host = undefined;
    this.decoder.begin(block);
    try {
      this.readFields(block);
    } catch (error) {
      if (!(error instanceof CompressionError)) throw error;
      throw new ConnectionError(errorCodes.compressionError, error.message);
    }
    return this.section;
  }

  private readFields(block: Buffer): void {
    const { decoder } = this;
    let bytes = 0;
    let count = 0;
    let startOfRegular = -1;
    let generation = 0;
    let position = 0;
    for (let field = decoder.next(); field !== undefined; field = decoder.next()) {
      count += 1;
      bytes += fieldSize(field);
      field.kind ??= kindOf(field);
      if (count > this.maxFields || bytes > this.maxBytes) this.section.problem = 'too-large';
      else if (field.kind >= firstPseudoKind) this.addPseudo(field, startOfRegular !== -1);
      else {
        if (startOfRegular === -1) {
          startOfRegular = position;
          generation = decoder.generation;
          if (this.repeatsLast(block, position)) return;
        }
        this.addRegular(field);
      }
      position = decoder.position;
    }
    this.complete();
    if (startOfRegular !== -1 && generation === decoder.generation) this.keep(block.subarray(startOfRegular));
  }

  /** Whether the regular fields are those of the last section. */
  private repeatsLast(block: Buffer, start: number): boolean {
    const { decoder, section } = this;
    const kept = this.kept[this.place];
    if (kept?.generation !== decoder.generation || kept.authority !== section.authority) return false;
    if (block.length - start !== kept.bytes.length || block.compare(kept.bytes, 0, kept.bytes.length, start) !== 0)
      return false;
    decoder.skip();
    section.isKept = true;
    section.fields = kept.fields;
    section.contentLength = kept.contentLength;
    return true;
  }

  private keep(bytes: Buffer): void {
    const { decoder, section } = this;
    if (section.problem !== undefined || bytes.length > keptBytes) return;
    const { authority, contentLength, fields } = section;
    const { generation } = decoder;
    section.isKept = true;
    this.kept[this.place] = { bytes: standalone(bytes), generation, authority, contentLength, fields };
  }

  private addPseudo({ kind, value }: DecodedField, isLate: boolean): void {
    const { section } = this;
    const name = pseudoNames[kind ?? 0];
    if (isLate || name === undefined || section[name] !== undefined) section.problem ??= 'malformed';
    else section[name] = value;
  }

  private addRegular({ kind, name, value }: DecodedField): void {
    const { section } = this;
    switch (kind) {
      case kinds.malformed:
        section.problem ??= 'malformed';
        return;
      case kinds.cookie:
        this.cookies.push(value);
        return;
      case kinds.contentLength:
        if (section.contentLength !== undefined) section.problem ??= 'malformed';
        section.contentLength = Number(value);
        break;
      case kinds.host:
        this.host = value;
        break;
      case undefined:
      default:
    }
    this.regular.push(name, value);
  }

  /**
   * Joins Cookie fields, which HTTP/2 may split (RFC 9113 section 8.2.3). An authority becomes a Host; one that differs
   * from Host becomes a second Host, so that the request is rejected.
   */
  private complete(): void {
    const { regular, cookies, host, section } = this;
    const { authority } = section;
    if (cookies.length > 0) regular.push('cookie', cookies.join('; '));
    const isOther = authority !== undefined && (host === undefined || hostnameKey(authority) !== hostnameKey(host));
    if (isOther) regular.push('host', authority);
    section.fields = regular;
  }
}

const pseudoNames: Readonly<Record<number, 'method' | 'scheme' | 'authority' | 'path' | 'protocol' | 'status'>> = {
  [kinds.method]: 'method',
  [kinds.scheme]: 'scheme',
  [kinds.authority]: 'authority',
  [kinds.path]: 'path',
  [kinds.protocol]: 'protocol',
  [kinds.status]: 'status',
};

function emptySection(): HeaderSection {
  return {
    problem: undefined,
    method: undefined,
    scheme: undefined,
    authority: undefined,
    path: undefined,
    protocol: undefined,
    status: undefined,
    contentLength: undefined,
    fields: [],
    isKept: false,
  };
}

/** Whether a section has pseudo-header fields of a request. */
function hasRequestFields({ method, scheme, authority, path, protocol }: HeaderSection): boolean {
  return (
    method !== undefined ||
    scheme !== undefined ||
    authority !== undefined ||
    path !== undefined ||
    protocol !== undefined
  );
}

/** Which pseudo-header fields a request must have (RFC 9113 sections 8.3.1 and 8.5; RFC 8441 section 4). */
function requestProblem(section: HeaderSection): SectionProblem | undefined {
  const { method, scheme, authority, path, protocol, contentLength } = section;
  if (method === undefined) return 'malformed';
  if (protocol !== undefined && (method !== 'CONNECT' || authority === undefined)) return 'malformed';
  // RFC 9110 section 9.3.6: CONNECT has no content. A backend could take the beginning of a WebSocket for a body.
  if (method === 'CONNECT' && contentLength !== undefined && contentLength > 0) return 'malformed';
  const isPlainConnect = method === 'CONNECT' && protocol === undefined;
  if (isPlainConnect)
    return scheme === undefined && path === undefined && authority !== undefined ? undefined : 'malformed';
  return scheme !== undefined && path !== undefined ? undefined : 'malformed';
}
