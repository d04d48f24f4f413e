import { encodeHuffman, huffmanLength } from './huffman.ts';
import { DynamicTable, fieldSize, staticFields } from './table.ts';
import type { TableField } from './table.ts';

/** A field in the dynamic table, and its number in the order of additions. */
interface EncodedField extends TableField {
  readonly number: number;
}

const staticByField = new Map(
  staticFields.map(({ name, value }, index) => [keyOf(name, value), index + 1]).toReversed() as [string, number][],
);
const staticByName = new Map(
  staticFields.map(({ name }, index) => [name, index + 1]).toReversed() as [string, number][],
);

/** Fields that differ in almost every response, and would only displace others from the table. */
const unstable: ReadonlySet<string> = new Set([
  ':path',
  'age',
  'content-length',
  'content-range',
  'etag',
  'expires',
  'grpc-message',
  'last-modified',
  'location',
]);
/** Fields with secrets, whose compression would tell something about them (RFC 7541 section 7.1). */
const secrets: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie']);
/** Longer fields are not added to the table. */
const longest = 1_024;

/** Forms of a field (RFC 7541 section 6): the bits of the first byte, and those of its integer. */
const indexed = [0x80, 0x7f] as const;
const added = [0x40, 0x3f] as const;
const plain = [0x00, 0x0f] as const;
/** Never added to a table by any recipient, which protects short secrets (RFC 7541 section 7.1.3). */
const secret = [0x10, 0x0f] as const;
const resized = [0x20, 0x1f] as const;
const huffman = [0x80, 0x7f] as const;
const unencoded = [0x00, 0x7f] as const;
type Form = readonly [bits: number, prefix: number];

/** The largest size of the dynamic table, whatever the recipient permits. */
const largestTable = 4_096;

/**
 * The fields in the dynamic tables of all encoders, and how many there may be: about 25 MiB. Thousands of connections with a table each
 * would take more memory than their responses. Beyond the limit, fields are sent without being added.
 */
const mostFields = 100_000;
let allFields = 0;

/** The current section of any encoder: a buffer for each connection would keep the size of its largest section. */
let section = Buffer.allocUnsafeSlow(4 * 1_024);

/** Encodes header sections (RFC 7541), one after the other. */
export class HpackEncoder {
  private position = 0;
  private readonly numbers = new Map<string, number>();
  private readonly table = new DynamicTable<EncodedField>(largestTable, ({ name, value, number }) => {
    const key = keyOf(name, value);
    if (this.numbers.get(key) === number) this.numbers.delete(key);
  });
  /** The smallest size of the table since the last section, if it has changed. */
  private smallest: number | undefined;
  private permitted = largestTable;
  /** Fields of this table that are part of `allFields`. */
  private counted = 0;

  /** Changes with the dynamic table. */
  get generation(): number {
    return this.table.generation;
  }

  /** The recipient permits a table of this size (SETTINGS_HEADER_TABLE_SIZE). */
  permit(size: number): void {
    this.permitted = Math.min(size, largestTable);
    this.smallest = Math.min(this.smallest ?? this.table.capacity, this.permitted);
  }

  /** Releases the memory of the table, which the next section begins by emptying. Whoever gives up an encoder calls this, too. */
  forget(): void {
    if (this.table.length === 0) return;
    this.table.resize(0);
    this.count();
    this.smallest = 0;
  }

  /** Whether a change of the size of the table must begin the next section. */
  get isResizing(): boolean {
    return this.smallest !== undefined;
  }

  /** Begins a header section. */
  begin(): void {
    this.position = 0;
    if (this.smallest === undefined) return;
    // RFC 7541 section 4.2: the smallest size, then the final one.
    if (this.smallest < this.permitted) this.resize(this.smallest);
    this.resize(this.permitted);
    this.smallest = undefined;
  }

  /** Adds a field in Latin-1 with a name in lower case. */
  add(name: string, value: string): void {
    const key = keyOf(name, value);
    const index = this.indexOf(key);
    if (index !== undefined) {
      this.integer(indexed, index);
      return;
    }
    const isSecret = secrets.has(name);
    const isAdded = allFields < mostFields && !isSecret && !unstable.has(name) && name.length + value.length <= longest;
    this.literal(isAdded ? added : isSecret ? secret : plain, name, value);
    if (isAdded) this.remember(key, { name, value, number: this.table.added });
  }

  /** The section, valid until the next one of any encoder begins. */
  end(): Buffer {
    return section.subarray(0, this.position);
  }

  private indexOf(key: string): number | undefined {
    const fixed = staticByField.get(key);
    if (fixed !== undefined) return fixed;
    const number = this.numbers.get(key);
    return number === undefined ? undefined : staticFields.length + this.table.added - number;
  }

  private remember(key: string, field: EncodedField): void {
    if (fieldSize(field) <= this.table.capacity) this.numbers.set(key, field.number);
    this.table.add(field);
    this.count();
  }

  private count(): void {
    allFields += this.table.length - this.counted;
    this.counted = this.table.length;
  }

  private literal(form: Form, name: string, value: string): void {
    const index = staticByName.get(name) ?? 0;
    this.integer(form, index);
    if (index === 0) this.string(name);
    this.string(value);
  }

  private resize(size: number): void {
    this.integer(resized, size);
    this.table.resize(size);
    this.count();
  }

  private integer([bits, prefix]: Form, value: number): void {
    this.reserve(8);
    if (value < prefix) {
      this.put(bits | value);
      return;
    }
    this.put(bits | prefix);
    let rest = value - prefix;
    for (; rest >= 0x80; rest >>>= 7) this.put((rest & 0x7f) | 0x80);
    this.put(rest);
  }

  private string(text: string): void {
    const length = huffmanLength(text);
    this.reserve(8 + text.length);
    if (length < text.length) {
      this.integer(huffman, length);
      this.position = encodeHuffman(text, section, this.position);
    } else {
      this.integer(unencoded, text.length);
      this.position += section.write(text, this.position, 'latin1');
    }
  }

  private put(byte: number): void {
    section[this.position] = byte;
    this.position += 1;
  }

  private reserve(length: number): void {
    if (this.position + length <= section.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * section.length, this.position + length));
    section.copy(larger, 0, 0, this.position);
    section = larger;
  }
}

function keyOf(name: string, value: string): string {
  return `${name}:${value}`;
}
