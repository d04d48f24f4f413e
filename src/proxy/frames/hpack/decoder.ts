import { decodeHuffman } from './huffman.ts';
import { DynamicTable, staticFields } from './table.ts';
import type { TableField } from './table.ts';

/** A field as decoded. `kind` may be set by the reader: the field stays the same object while it is in a table. */
export interface DecodedField extends TableField {
  kind: number | undefined;
}

/** A header section that cannot be decoded: neither can all later ones (RFC 9113 section 4.3). */
export class CompressionError extends Error {}

const staticTable: readonly DecodedField[] = staticFields.map((field) => ({ ...field, kind: undefined }));

/** Forms of a field in the first byte (RFC 7541 section 6). */
const indexed = 0x80;
const addedLiteral = 0x40;
const resized = 0x20;
const huffman = 0x80;

/** An integer has at most four further bytes: no index and no length comes near. */
const longestInteger = 21;

/**
 * Decodes header sections (RFC 7541), one after the other. The dynamic table takes at most `limit` bytes.
 *
 * @throws CompressionError in `next`
 */
export class HpackDecoder {
  private readonly limit: number;
  private readonly table: DynamicTable<DecodedField>;
  private bytes: Buffer = Buffer.alloc(0);
  /** The position of the next field in the section. */
  position = 0;
  /** Whether the table may be resized: only before the first field (RFC 7541 section 4.2). */
  private isBeforeFields = true;

  constructor(limit: number) {
    this.limit = limit;
    this.table = new DynamicTable(limit);
  }

  /** Begins a header section. */
  begin(bytes: Buffer): void {
    this.bytes = bytes;
    this.position = 0;
    this.isBeforeFields = true;
  }

  /** Changes with the dynamic table. */
  get generation(): number {
    return this.table.generation;
  }

  /** Regards the whole section as decoded, which must not change the table. */
  skip(): void {
    this.position = this.bytes.length;
  }

  /** Returns the next field, or `undefined` at the end of the section. */
  next(): DecodedField | undefined {
    while (this.position < this.bytes.length) {
      const first = this.bytes[this.position] ?? 0;
      if (first >= indexed) return this.known(first);
      if (first >= addedLiteral) return this.literal(0x3f);
      if (first < resized) return this.literal(0x0f);
      this.resize();
    }
    return undefined;
  }

  private known(first: number): DecodedField {
    this.isBeforeFields = false;
    // Without a call for the usual case of one byte.
    if (first < 0xff) this.position += 1;
    return this.field(first < 0xff ? first & 0x7f : this.integer(0x7f));
  }

  /** A literal; if the prefix has six bits, it is added to the table. */
  private literal(prefix: number): DecodedField {
    this.isBeforeFields = false;
    const index = this.integer(prefix);
    const name = index === 0 ? this.string() : this.field(index).name;
    const field = { name, value: this.string(), kind: undefined };
    if (prefix === 0x3f) this.table.add(field);
    return field;
  }

  private field(index: number): DecodedField {
    const field = index <= staticTable.length ? staticTable[index - 1] : this.table.at(index - staticTable.length - 1);
    if (field === undefined) throw new CompressionError(`no field at index ${index}`);
    return field;
  }

  private resize(): void {
    const size = this.integer(0x1f);
    if (!this.isBeforeFields || size > this.limit) throw new CompressionError(`table size ${size}`);
    if (size !== this.table.capacity) this.table.resize(size);
  }

  /** An integer whose prefix is in the low bits of the next byte (RFC 7541 section 5.1). */
  private integer(prefix: number): number {
    let value = this.byte() & prefix;
    if (value < prefix) return value;
    for (let shift = 0; shift <= longestInteger; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new CompressionError('an integer is too large');
  }

  private byte(): number {
    const byte = this.bytes[this.position];
    if (byte === undefined) throw new CompressionError('the section is incomplete');
    this.position += 1;
    return byte;
  }

  /** A string (RFC 7541 section 5.2) as Latin-1. */
  private string(): string {
    const isHuffman = ((this.bytes[this.position] ?? 0) & huffman) !== 0;
    const length = this.integer(0x7f);
    const start = this.position;
    const end = start + length;
    if (end > this.bytes.length) throw new CompressionError('the section is incomplete');
    this.position = end;
    if (!isHuffman) return this.bytes.toString('latin1', start, end);
    const text = decodeHuffman(this.bytes, start, end);
    if (text === undefined) throw new CompressionError('invalid Huffman code');
    return text;
  }
}
