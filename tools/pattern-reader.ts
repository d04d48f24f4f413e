/** Reads the patterns of schemas: regular expressions in RE2 syntax, as far as schemas use it. */

/** A place in a pattern, with what comes next. */
export type Place =
  | { readonly type: 'read'; readonly takes: CharacterSet; readonly next: Place }
  | { readonly type: 'fork'; readonly next: readonly Place[] }
  /** Only at the start, or the end, of the text. */
  | { readonly type: 'start' | 'end'; readonly next: Place }
  | { readonly type: 'match' };

/** Some ASCII characters by their codes, or all characters but these. */
export interface CharacterSet {
  readonly negated: boolean;
  readonly codes: ReadonlySet<number>;
}

/** A part of a pattern: its first place, by the place after it. */
type Part = (next: Place) => Place;

/**
 * The first place of a pattern.
 *
 * @throws Error where it uses something that is not known here
 */
export function readPattern(pattern: string): Place {
  return new PatternReader(pattern).whole()({ type: 'match' });
}

const sequence = (parts: readonly Part[]): Part => (next) => parts.reduceRight((after, part) => part(after), next);
const fork = (parts: readonly Part[]): Part => (next) => ({ type: 'fork', next: parts.map((part) => part(next)) });
const nothing = sequence([]);
const read = (takes: CharacterSet): Part => (next) => ({ type: 'read', takes, next });
const edge = (type: 'start' | 'end'): Part => (next) => ({ type, next });

function repeated(part: Part, least: number, most: number): Part {
  const more = most === Infinity ? [anyNumberOf(part)] : Array.from({ length: most - least }, () => fork([part, nothing]));
  return sequence([...Array.from({ length: least }, () => part), ...more]);
}

function anyNumberOf(part: Part): Part {
  return (next) => {
    const ways: Place[] = [next];
    const loop: Place = { type: 'fork', next: ways };
    ways.push(part(loop));
    return loop;
  };
}

const signsOfRepetition: Readonly<Record<string, readonly [least: number, most: number]>> = { '?': [0, 1], '*': [0, Infinity], '+': [1, Infinity] };
const counts = /\{(?<least>[0-9]+)(?<range>,(?<most>[0-9]*))?\}/y;
const escape = /\\(?:x(?<hex>[0-9A-Fa-f]{2})|(?<control>[tnr])|(?<sign>[!-/:-@[-`{-~]))/y;
const lineBreak = new Set(['\n'.charCodeAt(0)]);
const controls: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

class PatternReader {
  private readonly pattern: string;
  private position = 0;

  constructor(pattern: string) {
    this.pattern = pattern;
  }

  whole(): Part {
    const part = this.alternatives();
    if (this.position < this.pattern.length) this.fail();
    return part;
  }

  private alternatives(): Part {
    const parts = [this.concatenation()];
    while (this.skip('|')) parts.push(this.concatenation());
    return fork(parts);
  }

  private concatenation(): Part {
    const parts: Part[] = [];
    while (this.position < this.pattern.length && !this.sees('|') && !this.sees(')')) parts.push(this.repetition());
    return sequence(parts);
  }

  private repetition(): Part {
    const part = this.atom();
    const range = this.range();
    return range === undefined ? part : repeated(part, ...range);
  }

  private range(): readonly [least: number, most: number] | undefined {
    const sign = signsOfRepetition[this.pattern[this.position] ?? ''];
    if (sign !== undefined) {
      this.position += 1;
      return sign;
    }
    const { least, range, most } = this.take(counts) ?? {};
    if (least === undefined) return undefined;
    if (range === undefined) return [Number(least), Number(least)];
    return [Number(least), most === undefined || most === '' ? Infinity : Number(most)];
  }

  private atom(): Part {
    if (this.skip('^')) return edge('start');
    if (this.skip('$')) return edge('end');
    if (this.skip('(')) return this.group();
    if (this.skip('[')) return this.bracketed();
    if (this.skip('.')) return read({ negated: true, codes: lineBreak });
    if ('?*+{}]'.includes(this.pattern[this.position] ?? '')) this.fail();
    return read({ negated: false, codes: new Set([this.character()]) });
  }

  private group(): Part {
    if (!this.skip('?:') && this.sees('?')) this.fail();
    const part = this.alternatives();
    if (!this.skip(')')) this.fail();
    return part;
  }

  private bracketed(): Part {
    const negated = this.skip('^');
    const codes = new Set<number>();
    do {
      const from = this.character();
      const isRange = this.sees('-') && this.pattern[this.position + 1] !== ']';
      if (isRange) this.position += 1;
      const to = isRange ? this.character() : from;
      for (let code = from; code <= to; code++) codes.add(code);
    } while (!this.skip(']'));
    return read({ negated, codes });
  }

  /** The code of one character, escaped or not. */
  private character(): number {
    const { hex, control, sign } = this.take(escape) ?? {};
    if (hex !== undefined) return Number.parseInt(hex, 16);
    const code = (controls[control ?? ''] ?? sign ?? this.pattern[this.position++] ?? '').charCodeAt(0);
    // At the end of the pattern, or not ASCII, or an escape of another kind.
    if (!(code < 128) || (sign === undefined && code === 0x5c)) this.fail();
    return code;
  }

  private take(expression: RegExp): Readonly<Record<string, string | undefined>> | undefined {
    expression.lastIndex = this.position;
    const match = expression.exec(this.pattern);
    this.position += match?.[0].length ?? 0;
    return match?.groups;
  }

  private sees(sign: string): boolean {
    return this.pattern.startsWith(sign, this.position);
  }

  private skip(sign: string): boolean {
    const seen = this.sees(sign);
    if (seen) this.position += sign.length;
    return seen;
  }

  private fail(): never {
    throw new Error(`the pattern ${this.pattern} has something unknown at ${this.position}; teach it to tools/pattern-reader.ts`);
  }
}
