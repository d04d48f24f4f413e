/** The position of an object of a review in its body, in bytes, and whether it exceeds the limits. */
export interface ScannedObject {
  readonly start: number;
  readonly end: number;
  /** Whether it exceeds the limits of bytes, values or names. */
  readonly isTooLarge: boolean;
}

/** The result of scanning a body without parsing it. */
export interface Scan {
  readonly object: ScannedObject | undefined;
  readonly oldObject: ScannedObject | undefined;
  /** Why the review itself, besides its objects, is not parsed; a phrase that continues a sentence. */
  readonly problem: string | undefined;
}

/**
 * The cost of parsing values, in units of one number, and the limit for one object. Every object that etcd can store is
 * within the limit.
 */
const weights = { container: 3, name: 2, item: 1 };
export const maxWeight = 600_000;
/** The same for the review without its objects: API servers send a user with some groups, and options with some fields. */
export const maxHeadWeight = 60_000;
/** Limit of distinct names, which cost more than anything else. */
export const maxNames = 40_000;
/** Limit of bytes of one object. The API server accepts no larger request, and storage takes less. */
export const maxBytes = 3 * 1024 * 1024;

const [quote, backslash, comma, colon, openList, closeList, openObject, closeObject] = [
  0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d,
];
const slots = 2 ** 17;
/** Longer than any name that the scan looks for. */
const longestText = 16;

/** Counts the values and distinct names below one location. */
class Tally {
  private readonly limit: number;
  private weight = 0;
  private names = 0;
  private seen: Uint32Array | undefined;

  /** @param limit maximum weight */
  constructor(limit: number) {
    this.limit = limit;
  }

  add(weight: number): void {
    this.weight += weight;
  }

  /** An estimate: one bit per name. */
  addName(hash: number): void {
    this.weight += weights.name;
    if (this.names > maxNames) return;
    this.seen ??= new Uint32Array(slots / 32);
    const slot = hash % slots;
    const mask = 1 << (slot & 31);
    const word = this.seen[slot >>> 5] ?? 0;
    if ((word & mask) !== 0) return;
    this.seen[slot >>> 5] = word | mask;
    this.names += 1;
  }

  get isTooLarge(): boolean {
    return this.weight > this.limit || this.names > maxNames;
  }
}

interface Open {
  readonly name: 'object' | 'oldObject';
  readonly start: number;
  readonly tally: Tally;
}

/**
 * Scans the JSON of an AdmissionReview chunk by chunk. Finds its two objects, and whether parsing any part of it would
 * take too long. Never fails: the parser detects invalid JSON. Costs some nanoseconds per byte.
 */
export class BodyScan {
  private at = 0;
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  /** The beginning of the last string, long enough to recognize the names that the scan looks for. */
  private text = '';
  private hash = 0;
  private isInRequest = false;
  private open: Open | undefined;
  private repeated: string | undefined;
  private readonly head = new Tally(maxHeadWeight);
  private tally = this.head;
  private readonly found: { object?: ScannedObject; oldObject?: ScannedObject } = {};

  push(chunk: Buffer): void {
    let position = 0;
    while (position < chunk.length) {
      if (this.isInString) position = this.string(chunk, position);
      else {
        this.structure(chunk[position] ?? 0, this.at + position);
        position += 1;
      }
    }
    this.at += chunk.length;
  }

  end(): Scan {
    const isTooLarge = this.head.isTooLarge || this.tally.isTooLarge;
    const problem = isTooLarge
      ? 'has more values than the limit of an AdmissionReview'
      : this.repeated === undefined
        ? undefined
        : `has request.${this.repeated} twice`;
    return { object: this.found.object, oldObject: this.found.oldObject, problem };
  }

  /** Continues to the end of a string or of the chunk, and returns that position. */
  private string(chunk: Buffer, from: number): number {
    let hash = this.hash;
    let position = from;
    for (; position < chunk.length; position += 1) {
      const byte = chunk[position] ?? 0;
      if (this.isEscaped) this.isEscaped = false;
      else if (byte === quote) {
        this.isInString = false;
        break;
      } else if (byte === backslash) this.isEscaped = true;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    this.hash = hash;
    if (this.depth <= 2 && this.text.length < longestText)
      this.text += chunk.toString('latin1', from, Math.min(position, from + longestText));
    return this.isInString ? position : position + 1;
  }

  private structure(byte: number, at: number): void {
    switch (byte) {
      case quote:
        this.isInString = true;
        this.text = '';
        this.hash = 0;
        return;
      case openObject:
      case openList:
        this.depth += 1;
        this.tally.add(weights.container);
        return;
      case closeObject:
      case closeList:
        this.leave(at);
        return;
      case comma:
        this.tally.add(weights.item);
        if (this.depth === 2) this.endObject(at);
        return;
      case colon:
        this.name(at);
    }
  }

  private leave(at: number): void {
    if (this.depth === 2) {
      this.endObject(at);
      this.isInRequest = false;
    }
    this.depth -= 1;
  }

  private name(at: number): void {
    this.tally.addName((this.hash ^ (this.hash >>> 15)) >>> 0);
    if (this.depth === 1) this.isInRequest = this.text === 'request';
    if (this.depth !== 2 || !this.isInRequest || (this.text !== 'object' && this.text !== 'oldObject')) return;
    this.open = { name: this.text, start: at + 1, tally: new Tally(maxWeight) };
    this.tally = this.open.tally;
  }

  private endObject(at: number): void {
    if (this.open === undefined) return;
    const { name, start, tally } = this.open;
    if (this.found[name] !== undefined) this.repeated = name;
    this.found[name] = { start, end: at, isTooLarge: tally.isTooLarge || at - start > maxBytes };
    this.open = undefined;
    this.tally = this.head;
  }
}
