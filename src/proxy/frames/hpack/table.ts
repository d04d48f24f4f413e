/** A field in a table (RFC 7541 section 2.3). */
export interface TableField {
  readonly name: string;
  readonly value: string;
}

/** Overhead of an entry (RFC 7541 section 4.1). */
const overhead = 32;

/** The size of a field in the dynamic table, in bytes. */
export function fieldSize({ name, value }: TableField): number {
  return name.length + value.length + overhead;
}

/** The static table (RFC 7541 appendix A). A field without a value has an empty one. */
export const staticFields: readonly TableField[] = [
  ':authority',
  ':method GET',
  ':method POST',
  ':path /',
  ':path /index.html',
  ':scheme http',
  ':scheme https',
  ':status 200',
  ':status 204',
  ':status 206',
  ':status 304',
  ':status 400',
  ':status 404',
  ':status 500',
  'accept-charset',
  'accept-encoding gzip, deflate',
  'accept-language',
  'accept-ranges',
  'accept',
  'access-control-allow-origin',
  'age',
  'allow',
  'authorization',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'cookie',
  'date',
  'etag',
  'expect',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'link',
  'location',
  'max-forwards',
  'proxy-authenticate',
  'proxy-authorization',
  'range',
  'referer',
  'refresh',
  'retry-after',
  'server',
  'set-cookie',
  'strict-transport-security',
  'transfer-encoding',
  'user-agent',
  'vary',
  'via',
  'www-authenticate',
].map((line) => {
  const space = line.indexOf(' ');
  return space === -1 ? { name: line, value: '' } : { name: line.slice(0, space), value: line.slice(space + 1) };
});

/** The dynamic table (RFC 7541 sections 2.3.2 and 4): the newest fields, up to a size in bytes. */
export class DynamicTable<T extends TableField> {
  /** The number of changes. Bytes of a header section mean the same as before while it is the same. */
  generation = 0;
  /** The number of fields that were ever added. */
  added = 0;
  /** Older fields come first. Those before `first` are not part of the table any more. */
  private fields: (T | undefined)[] = [];
  private first = 0;
  private size = 0;
  private limit: number;
  private readonly removed: (field: T) => void;

  /** `removed` is called for each field that leaves the table. */
  constructor(limit: number, removed: (field: T) => void = () => undefined) {
    this.limit = limit;
    this.removed = removed;
  }

  get length(): number {
    return this.fields.length - this.first;
  }

  get capacity(): number {
    return this.limit;
  }

  /** The field at an index, the newest one at 0. */
  at(index: number): T | undefined {
    return index < this.length ? this.fields[this.fields.length - 1 - index] : undefined;
  }

  /** Adds a field. One that is larger than the table empties it (RFC 7541 section 4.4). */
  add(field: T): void {
    const size = fieldSize(field);
    this.generation += 1;
    this.evict(this.limit - size);
    this.added += 1;
    if (size > this.limit) {
      this.removed(field);
      return;
    }
    this.fields.push(field);
    this.size += size;
  }

  resize(limit: number): void {
    this.generation += 1;
    this.limit = limit;
    this.evict(limit);
  }

  private evict(allowed: number): void {
    while (this.size > allowed && this.length > 0) {
      const oldest = this.fields[this.first];
      this.fields[this.first] = undefined;
      this.first += 1;
      if (oldest === undefined) continue;
      this.size -= fieldSize(oldest);
      this.removed(oldest);
    }
    if (this.first <= this.length) return;
    this.fields = this.fields.slice(this.first);
    this.first = 0;
  }
}
