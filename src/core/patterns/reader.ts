import { isNameOfCodePoints, lastCodePoint } from './code-points.ts';
import type { SetItem } from './sets.ts';

/** A violation of RE2 syntax, in RE2's words, and the affected part of the pattern. */
export class PatternSyntaxError extends Error {
  readonly part: string | undefined;

  constructor(message: string, part?: string) {
    super(message);
    this.part = part;
  }
}

const simpleEscapes: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['f', 12],
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
]);

/** By ASCII code: 1 for characters that always stand for themselves outside of brackets and escapes. */
const isLiteral = Uint8Array.from({ length: 0x80 }, (_, code) =>
  Number(!'*+?{()|^$.[\\'.includes(String.fromCharCode(code))),
);

/** Reads a pattern from left to right: characters, escapes and names. */
export class PatternReader {
  readonly text: string;
  /** In UTF-16 code units. */
  position = 0;
  /** Where the last `:]` of the text is, once it was asked for. */
  private lastNameEnd: number | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get more(): boolean {
    return this.position < this.text.length;
  }

  get isAtLast(): boolean {
    return this.position === this.text.length - 1;
  }

  startsWith(sign: string): boolean {
    return this.text.startsWith(sign, this.position);
  }

  /** Consumes a letter, digit or another ASCII character without a meaning of its own, and returns its code; otherwise `undefined`. */
  takeLiteral(): number | undefined {
    const code = this.text.charCodeAt(this.position);
    if (isLiteral[code] !== 1) return undefined;
    this.position += 1;
    return code;
  }

  /** Consumes one character; `''` at the end. */
  take(): string {
    const code = this.text.codePointAt(this.position);
    if (code === undefined) return '';
    const character = String.fromCodePoint(code);
    this.position += character.length;
    return character;
  }

  /** Consumes the sign if it is next; returns whether it was. */
  takeIf(sign: string): boolean {
    if (!this.startsWith(sign)) return false;
    this.position += sign.length;
    return true;
  }

  /** Consumes the match of a sticky regular expression at the current position. The expression must not repeat alternatives. */
  takeMatch(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.position;
    const match = sticky.exec(this.text);
    if (match === null) return undefined;
    this.position += match[0].length;
    return match;
  }

  /**
   * Consumes everything up to the sign, and the sign. Returns the text before it; `undefined`, without consuming, if the
   * sign does not follow.
   */
  until(sign: string): string | undefined {
    const end = this.text.indexOf(sign, this.position);
    if (end === -1) return undefined;
    const part = this.text.slice(this.position, end);
    this.position = end + sign.length;
    return part;
  }

  /** Consumes the rest. */
  rest(): string {
    const part = this.text.slice(this.position);
    this.position = this.text.length;
    return part;
  }

  /** The text consumed since `start`. */
  from(start: number): string {
    return this.text.slice(start, this.position);
  }

  /** The text from `start` to the end. */
  textFrom(start: number): string {
    return this.text.slice(start);
  }

  /** Consumes a name such as `[:alpha:]`; `undefined` if the characters are literals. */
  posixName(): string | undefined {
    // Thousands of `[:` without an end would each be searched to the end of the text.
    this.lastNameEnd ??= this.text.lastIndexOf(':]');
    if (this.lastNameEnd < this.position) return undefined;
    const end = this.text.indexOf(':]', this.position);
    const name = this.text.slice(this.position, end + 2);
    this.position = end + 2;
    return name;
  }

  /** The class of an escape such as `\d` or `\p{L}`, after its backslash; `undefined` if it is not a class. */
  classEscape(start: number, known: ReadonlyMap<string, SetItem>): SetItem | undefined {
    const letter = this.text[this.position] ?? '';
    const item = known.get(letter);
    if (item !== undefined) {
      this.position += 1;
      return item;
    }
    if (letter !== 'p' && letter !== 'P') return undefined;
    this.position += 1;
    const written = this.takeIf('{') ? this.until('}') : this.take();
    if (written === undefined || !this.isTaken(start, written))
      throw new PatternSyntaxError('invalid character class range', this.textFrom(start));
    const isNegated = written.startsWith('^');
    const name = isNegated ? written.slice(1) : written;
    if (!isNameOfCodePoints(name)) throw new PatternSyntaxError('invalid character class range', this.from(start));
    return { name, isNegated: isNegated !== (letter === 'P') };
  }

  private isTaken(start: number, written: string): boolean {
    return written !== '' || this.position > start + 2;
  }

  /** A character of a set, possibly escaped. */
  setCharacter(setStart: number): number {
    if (!this.more) throw new PatternSyntaxError('missing closing ]', this.textFrom(setStart));
    const start = this.position;
    return this.takeIf('\\') ? this.escapedCharacter(start) : (this.take().codePointAt(0) ?? 0);
  }

  /** The character of an escape, after its backslash at `start`. */
  escapedCharacter(start: number): number {
    if (!this.more) throw new PatternSyntaxError('trailing backslash at end of expression');
    const octal = this.takeMatch(/0[0-7]{0,2}|[1-7][0-7]{1,2}/y);
    if (octal !== undefined) return parseInt(octal[0], 8);
    const hexadecimal = this.takeMatch(/x(?:\{(?<long>0*[0-9A-Fa-f]{1,6})\}|(?<short>[0-9A-Fa-f]{2}))/y);
    if (hexadecimal !== undefined) {
      const code = parseInt(hexadecimal.groups?.['long'] ?? hexadecimal.groups?.['short'] ?? '', 16);
      if (code <= lastCodePoint) return code;
    } else {
      const character = this.take();
      const code = simpleEscapes.get(character) ?? character.codePointAt(0) ?? 0;
      if (simpleEscapes.has(character) || (/^[\0-\x7f]$/.test(character) && !/^[0-9A-Za-z]$/.test(character)))
        return code;
    }
    throw new PatternSyntaxError('invalid escape sequence', this.from(start));
  }
}
