import { isNameOfCodePoints, lastCodePoint } from './code-points.ts';
import type { SetItem } from './pattern-sets.ts';

/** Something that is not RE2 syntax, in the words of RE2, and the part of the pattern that it is about. */
export class PatternSyntaxError extends Error {
  readonly part: string | undefined;

  constructor(message: string, part?: string) {
    super(message);
    this.part = part;
  }
}

const simpleEscapes: ReadonlyMap<string, number> = new Map([['a', 7], ['f', 12], ['n', 10], ['r', 13], ['t', 9], ['v', 11]]);

/** Reads a pattern from the left to the right: signs, escapes and names. */
export class PatternReader {
  readonly text: string;
  /** In UTF-16 code units. */
  position = 0;

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

  /** Takes one character; `''` at the end. */
  take(): string {
    const code = this.text.codePointAt(this.position);
    if (code === undefined) return '';
    const character = String.fromCodePoint(code);
    this.position += character.length;
    return character;
  }

  /** Whether the sign stood here; it is taken then. */
  takeIf(sign: string): boolean {
    if (!this.startsWith(sign)) return false;
    this.position += sign.length;
    return true;
  }

  /** Takes what a sticky expression without repetition of alternatives matches here. */
  takeMatch(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.position;
    const match = sticky.exec(this.text);
    if (match === null) return undefined;
    this.position += match[0].length;
    return match;
  }

  /** Takes everything before the sign, and the sign; `undefined` and nothing taken where there is none. */
  until(sign: string): string | undefined {
    const end = this.text.indexOf(sign, this.position);
    if (end === -1) return undefined;
    const part = this.text.slice(this.position, end);
    this.position = end + sign.length;
    return part;
  }

  /** Takes everything that is left. */
  rest(): string {
    const part = this.text.slice(this.position);
    this.position = this.text.length;
    return part;
  }

  /** What was read since `start`. */
  from(start: number): string {
    return this.text.slice(start, this.position);
  }

  /** Everything from `start` on. */
  textFrom(start: number): string {
    return this.text.slice(start);
  }

  /** Takes a name such as `[:alpha:]`; `undefined` where the signs mean themselves. */
  posixName(): string | undefined {
    const end = this.text.indexOf(':]', this.position);
    if (end === -1) return undefined;
    const name = this.text.slice(this.position, end + 2);
    this.position = end + 2;
    return name;
  }

  /** The class that an escape such as `\d` or `\p{L}` stands for, after its backslash; `undefined` where it is none. */
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
    if (written === undefined || !this.isTaken(start, written)) throw new PatternSyntaxError('invalid character class range', this.textFrom(start));
    const isNegated = written.startsWith('^');
    const name = isNegated ? written.slice(1) : written;
    if (!isNameOfCodePoints(name)) throw new PatternSyntaxError('invalid character class range', this.from(start));
    return { name, isNegated: isNegated !== (letter === 'P') };
  }

  private isTaken(start: number, written: string): boolean {
    return written !== '' || this.position > start + 2;
  }

  /** A character of a set, which may be escaped. */
  setCharacter(setStart: number): number {
    if (!this.more) throw new PatternSyntaxError('missing closing ]', this.textFrom(setStart));
    const start = this.position;
    return this.takeIf('\\') ? this.escapedCharacter(start) : (this.take().codePointAt(0) ?? 0);
  }

  /** The character that an escape stands for, after its backslash at `start`. */
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
      if (simpleEscapes.has(character) || /^[\0-\x7f]$/.test(character) && !/^[0-9A-Za-z]$/.test(character)) return code;
    }
    throw new PatternSyntaxError('invalid escape sequence', this.from(start));
  }
}
