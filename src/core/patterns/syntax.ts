import { PatternReader, PatternSyntaxError } from './reader.ts';
import { classEscapes, posixClasses, type CharacterSet, type SetItem } from './sets.ts';

/** The positions at which an assertion holds. */
export type Assertion = 'textStart' | 'textEnd' | 'lineStart' | 'lineEnd' | 'wordBoundary' | 'noWordBoundary';

/** A part of a pattern. `size` is the number of sets and assertions after counted repetitions are expanded. */
export type PatternNode = { readonly size: number } & (
  | { readonly type: 'empty' }
  | { readonly type: 'assertion'; readonly assertion: Assertion }
  /** One character of the set with this index in `sets`. */
  | { readonly type: 'set'; readonly set: number }
  | { readonly type: 'sequence' | 'choice'; readonly parts: readonly PatternNode[] }
  /** `most` may be Infinity. */
  | { readonly type: 'repetition'; readonly body: PatternNode; readonly least: number; readonly most: number }
);

export interface ParsedPattern {
  readonly root: PatternNode;
  /** The distinct sets of characters. Their members are not computed yet. */
  readonly sets: readonly CharacterSet[];
}

export { PatternSyntaxError } from './reader.ts';

interface Flags {
  readonly ignoreCase: boolean;
  readonly multiLine: boolean;
  readonly dotMatchesAll: boolean;
}

interface Group {
  readonly flagsOutside: Flags;
  readonly choices: PatternNode[];
  sequence: PatternNode[];
}

const empty: PatternNode = { type: 'empty', size: 1 };
const maximumCount = 1_000;
/** Below the limit of RE2, and far below that of the stack. */
const maximumDepth = 250;

const noFlags: Flags = { ignoreCase: false, multiLine: false, dotMatchesAll: false };
const flagNames: Readonly<Record<string, keyof Flags | 'ungreedy'>> = {
  i: 'ignoreCase',
  m: 'multiLine',
  s: 'dotMatchesAll',
  U: 'ungreedy',
};
const allButLineFeed: readonly SetItem[] = [{ first: 0x0a, last: 0x0a }];

/**
 * Parses RE2 syntax (https://github.com/google/re2/wiki/Syntax). Groups are not captured, and repetitions are neither greedy
 * nor lazy, because only whole values are matched. Linear in the length of the text.
 *
 * @throws PatternSyntaxError
 */
export function parsePattern(text: string): ParsedPattern {
  return new Parser(text).parse();
}

class Parser {
  private readonly reader: PatternReader;
  private readonly sets: CharacterSet[] = [];
  /** By source: the node of the set. The same set is one node, because nodes are never changed. */
  private readonly nodes = new Map<string, PatternNode>();
  /** By code point and case sensitivity: the node of a single character. Most parts of patterns are single characters. */
  private readonly characterNodes = new Map<number, PatternNode>();
  private readonly names = new Set<string>();
  private readonly groups: Group[] = [];
  private group: Group = { flagsOutside: noFlags, choices: [], sequence: [] };
  private flags = noFlags;
  /** The start of the last repetition, unless something else has followed it. */
  private repetition: number | undefined;

  constructor(text: string) {
    this.reader = new PatternReader(text);
  }

  parse(): ParsedPattern {
    const { reader } = this;
    while (reader.more) {
      const literal = reader.takeLiteral();
      if (literal !== undefined) {
        this.addCharacter(literal);
        this.repetition = undefined;
        continue;
      }
      const start = reader.position;
      const repeated = this.readRepetition();
      if (!repeated) this.readOther();
      this.repetition = repeated ? start : undefined;
    }
    if (this.groups.length > 0) throw new PatternSyntaxError('missing closing )', reader.text);
    return { root: closed(this.group), sets: this.sets };
  }

  private add(node: PatternNode): void {
    this.group.sequence.push(node);
  }

  private readOther(): void {
    const { reader } = this;
    const start = reader.position;
    const character = reader.take();
    switch (character) {
      case '(':
        this.openGroup(start);
        break;
      case ')':
        this.closeGroup();
        break;
      case '|':
        this.group.choices.push(sequenceOf(this.group.sequence));
        this.group.sequence = [];
        break;
      case '^':
        this.add(assertion(this.flags.multiLine ? 'lineStart' : 'textStart'));
        break;
      case '$':
        this.add(assertion(this.flags.multiLine ? 'lineEnd' : 'textEnd'));
        break;
      case '.':
        this.addSet(
          { isNegated: true, ignoreCase: false, items: this.flags.dotMatchesAll ? [] : allButLineFeed },
          this.flags.dotMatchesAll ? 'everything' : 'line',
        );
        break;
      case '[':
        this.readSet(start);
        break;
      case '\\':
        this.readEscape(start);
        break;
      default:
        this.addCharacter(character.codePointAt(0) ?? 0);
    }
  }

  private addCharacter(code: number): void {
    const { ignoreCase } = this.flags;
    const key = ignoreCase ? -code - 1 : code;
    let node = this.characterNodes.get(key);
    if (node === undefined) {
      node = this.newSet({ isNegated: false, ignoreCase, items: [{ first: code, last: code }] });
      this.characterNodes.set(key, node);
    }
    this.add(node);
  }

  /** @param source identifies the set, together with its case sensitivity */
  private addSet(set: CharacterSet, source: string): void {
    const key = `${set.ignoreCase ? 'i' : 'c'} ${source}`;
    let node = this.nodes.get(key);
    if (node === undefined) {
      node = this.newSet(set);
      this.nodes.set(key, node);
    }
    this.add(node);
  }

  private newSet(set: CharacterSet): PatternNode {
    return { type: 'set', set: this.sets.push(set) - 1, size: 1 };
  }

  /** Consumes a repetition operator, if it is next, and applies it to the previous part; returns whether there was one. */
  private readRepetition(): boolean {
    const { reader } = this;
    const start = reader.position;
    const count = countAt(reader);
    if (count === undefined) return false;
    reader.takeIf('?');
    const sign = reader.from(start);
    if (this.repetition !== undefined)
      throw new PatternSyntaxError('invalid nested repetition operator', reader.from(this.repetition));
    const body = this.group.sequence.pop();
    if (body === undefined) throw new PatternSyntaxError('missing argument to repetition operator', sign);
    const [least, most] = count;
    this.add(repetitionOf(body, least, most));
    return true;
  }

  private openGroup(start: number): void {
    const flagsOutside = this.flags;
    if (this.reader.takeIf('?') && !this.readName(start) && this.readFlags(start) === ')') return;
    if (this.groups.length >= maximumDepth) throw new PatternSyntaxError('expression nests too deeply');
    this.groups.push(this.group);
    this.group = { flagsOutside, choices: [], sequence: [] };
  }

  private closeGroup(): void {
    const outer = this.groups.pop();
    if (outer === undefined) throw new PatternSyntaxError('unexpected )', this.reader.text);
    const node = closed(this.group);
    this.flags = this.group.flagsOutside;
    this.group = outer;
    this.add(node);
  }

  /** Consumes the name of a group, `P<name>` or `<name>`; returns whether there was one. */
  private readName(start: number): boolean {
    const { reader } = this;
    if (!reader.takeIf('P<') && !reader.takeIf('<')) return false;
    if (reader.startsWith('=') || reader.startsWith('!'))
      throw new PatternSyntaxError('invalid or unsupported Perl syntax', `${reader.from(start)}${reader.take()}`);
    const name = reader.until('>');
    if (name === undefined) throw new PatternSyntaxError('invalid named capture', reader.textFrom(start));
    if (!/^\w+$/.test(name)) throw new PatternSyntaxError('invalid named capture', reader.from(start));
    if (this.names.has(name)) throw new PatternSyntaxError('duplicate capture group name', name);
    this.names.add(name);
    return true;
  }

  /** Consumes flags such as `i-s` and returns the character after them: `:`, which starts a group, or `)`. */
  private readFlags(start: number): ':' | ')' {
    const { reader } = this;
    const flags: Record<string, boolean> & Flags = { ...this.flags };
    let isSet = true;
    let isComplete = true;
    while (reader.more) {
      const sign = reader.take();
      if ((sign === ':' || sign === ')') && isComplete) {
        this.flags = flags;
        return sign;
      }
      const flag = Object.hasOwn(flagNames, sign) ? flagNames[sign] : undefined;
      if (flag === undefined && (sign !== '-' || !isSet)) break;
      if (flag !== undefined) Object.assign(flags, { [flag]: isSet });
      else isSet = false;
      isComplete = flag !== undefined;
    }
    throw new PatternSyntaxError('invalid or unsupported Perl syntax', reader.from(start));
  }

  private readEscape(start: number): void {
    const { reader } = this;
    if (reader.takeIf('A')) this.add(assertion('textStart'));
    else if (reader.takeIf('z')) this.add(assertion('textEnd'));
    else if (reader.takeIf('b')) this.add(assertion('wordBoundary'));
    else if (reader.takeIf('B')) this.add(assertion('noWordBoundary'));
    else if (reader.takeIf('Q'))
      for (const character of reader.until('\\E') ?? reader.rest()) this.addCharacter(character.codePointAt(0) ?? 0);
    else {
      const item = reader.classEscape(start, classEscapes);
      if (item === undefined) this.addCharacter(reader.escapedCharacter(start));
      else this.addSet({ isNegated: false, ignoreCase: this.flags.ignoreCase, items: [item] }, reader.from(start));
    }
  }

  private readSet(start: number): void {
    const { reader } = this;
    const isNegated = reader.takeIf('^');
    const items: SetItem[] = [];
    do {
      items.push(this.readItem(start));
    } while (!reader.takeIf(']'));
    this.addSet({ isNegated, ignoreCase: this.flags.ignoreCase, items }, reader.from(start));
  }

  private readItem(start: number): SetItem {
    const { reader } = this;
    const itemStart = reader.position;
    if (reader.startsWith('[:')) {
      const name = reader.posixName();
      const item = name === undefined ? undefined : posixClasses.get(name);
      if (item !== undefined) return item;
      if (name !== undefined) throw new PatternSyntaxError('invalid character class range', name);
    }
    if (reader.takeIf('\\')) {
      const item = reader.classEscape(itemStart, classEscapes);
      if (item !== undefined) return item;
      reader.position = itemStart;
    }
    const first = reader.setCharacter(start);
    if (!reader.startsWith('-') || reader.startsWith('-]') || reader.isAtLast) return { first, last: first };
    reader.take();
    const last = reader.setCharacter(start);
    if (last < first) throw new PatternSyntaxError('invalid character class range', reader.from(itemStart));
    return { first, last };
  }
}

const countSign = /\{(?<least>0|[1-9][0-9]*)(?:,(?<most>0|[1-9][0-9]*)?)?\}/y;

/** Consumes a repetition operator and returns its bounds; `undefined` if none is next. */
function countAt(reader: PatternReader): readonly [least: number, most: number] | undefined {
  if (reader.takeIf('*')) return [0, Infinity];
  if (reader.takeIf('+')) return [1, Infinity];
  if (reader.takeIf('?')) return [0, 1];
  const written = reader.startsWith('{') ? reader.takeMatch(countSign) : undefined;
  if (written === undefined) return undefined;
  const least = Number(written.groups?.['least']);
  const most = written[0].includes(',') ? Number(written.groups?.['most'] ?? Infinity) : least;
  if (least > maximumCount || (most > maximumCount && most !== Infinity) || least > most)
    throw new PatternSyntaxError('invalid repeat count', written[0]);
  return [least, most];
}

function assertion(name: Assertion): PatternNode {
  return { type: 'assertion', assertion: name, size: 1 };
}

function sequenceOf(parts: readonly PatternNode[]): PatternNode {
  const [first = empty] = parts;
  if (parts.length <= 1) return first;
  return { type: 'sequence', parts, size: parts.reduce((sum, { size }) => sum + size, 0) };
}

function closed({ choices, sequence }: Group): PatternNode {
  const last = sequenceOf(sequence);
  if (choices.length === 0) return last;
  const parts = [...choices, last];
  return { type: 'choice', parts, size: parts.reduce((sum, { size }) => sum + size, 0) };
}

function repetitionOf(body: PatternNode, least: number, most: number): PatternNode {
  const copies = most === Infinity ? Math.max(least, 1) : most;
  return { type: 'repetition', body, least, most, size: Math.max(copies * body.size, 1) };
}
