import type { CodePoints } from './code-points.ts';
import { spend, TooCostly, type Allowance } from './allowance.ts';
import { alphabetOf, held, lineFeed, rangeAt, type Alphabet } from './alphabet.ts';
import { endState, type State, type States } from './states.ts';

/** A deterministic automaton as a table: reads a text once, one step per character, whatever the pattern. */
export interface PatternTable {
  /** The class of each ASCII character. The pattern does not distinguish characters of a class. */
  readonly asciiClasses: Uint16Array;
  /** The first code points of the ranges in ascending order, starting with 0; `rangeClasses` has the class of each range. */
  readonly rangeStarts: Uint32Array;
  readonly rangeClasses: Uint16Array;
  readonly classCount: number;
  /** The next state by state and class. State 0 is the dead state, state 1 the start. */
  readonly next: Uint16Array;
  /** Whether a state is accepting. */
  readonly accepting: Uint8Array;
  /** Size of all arrays in bytes. */
  readonly bytes: number;
}

/** The state from which nothing is accepted. */
export const dead = 0;
/** The state before the first character. */
export const start = 1;
const maxStates = 0xff_ff;

// The properties of the previous character that a state stores.
const afterStart = 1;
const afterLineFeed = 2;
const afterWord = 4;

/**
 * Builds the table of a pattern by subset construction. Its size is known only at the end: some patterns need as many states
 * as there are subsets.
 *
 * @param members the characters of each set that the states refer to
 * @param allowance the work done is subtracted from its effort
 * @throws TooCostly
 */
export function tableOf(states: States, members: readonly CodePoints[], allowance: Allowance): PatternTable {
  const assertions = assertionsOf(states.list);
  const alphabet = alphabetOf(members, assertions, allowance);
  return new Subsets(states.list, alphabet, { assertions, allowance }).explore(states.first);
}

/** Counts the characters that are read. Throws if they are too many. */
export interface ReadCount {
  take(characters: number): void;
}

/** Whether a table accepts a whole text: at most one step per character. It reads no further once the text cannot be accepted. */
export function accepts(table: PatternTable, text: string, count?: ReadCount): boolean {
  const { asciiClasses, classCount, next, accepting } = table;
  let state = start;
  for (let index = 0; index < text.length; index += 1) {
    let code = text.charCodeAt(index);
    let characterClass = asciiClasses[code];
    if (characterClass === undefined) {
      code = text.codePointAt(index) ?? 0;
      if (code > 0xff_ff) index += 1;
      characterClass = table.rangeClasses[rangeAt(table.rangeStarts, code)] ?? 0;
    }
    state = next[state * classCount + characterClass] ?? dead;
    if (state === dead) {
      count?.take(index + 1);
      return false;
    }
  }
  count?.take(text.length);
  return accepting[state] === 1;
}

/** The state after an ASCII character. Other codes lead to the dead state. */
export function stateAfter({ asciiClasses, classCount, next }: PatternTable, state: number, code: number): number {
  const characterClass = asciiClasses[code];
  return characterClass === undefined ? dead : (next[state * classCount + characterClass] ?? dead);
}

/**
 * The shortest text that a table accepts. It is empty only if no longer text is accepted.
 *
 * @param prefix the start of the text
 * @param characters the allowed characters, ASCII only; earlier ones are preferred
 * @returns `undefined` if there is no such text
 */
export function shortestAccepted(table: PatternTable, prefix: string, characters: string): string | undefined {
  const { asciiClasses, classCount, next, accepting } = table;
  const step = (state: number, characterClass: number): number => next[state * classCount + characterClass] ?? dead;
  const first = Array.from(prefix).reduce(
    (state, character) => step(state, asciiClasses[character.charCodeAt(0)] ?? 0),
    start,
  );
  if (first === dead) return undefined;
  // The pattern does not distinguish characters of a class.
  const steps = new Map(
    Array.from(characters)
      .toReversed()
      .map((character) => [asciiClasses[character.charCodeAt(0)] ?? 0, character] as const),
  );
  const reached = new Set<number>();
  for (let open = [{ state: first, text: prefix }]; open.length > 0;) {
    const found = open.find(({ state, text }) => accepting[state] === 1 && text !== '');
    if (found !== undefined) return found.text;
    const further: typeof open = [];
    for (const { state, text } of open) {
      for (const character of characters) {
        const characterClass = asciiClasses[character.charCodeAt(0)] ?? 0;
        const after = steps.get(characterClass) === character ? step(state, characterClass) : dead;
        if (after === dead || reached.has(after)) continue;
        reached.add(after);
        further.push({ state: after, text: text + character });
      }
    }
    open = further;
  }
  return prefix === '' && accepting[first] === 1 ? '' : undefined;
}

function assertionsOf(list: readonly State[]): number {
  return list.reduce(
    (assertions, state) => (state.type === 'assertion' ? assertions | held[state.assertion] : assertions),
    0,
  );
}

type Reading = Extract<State, { readonly type: 'set' }>;

/** A subset of the states, with the properties of the previous character that assertions need. */
interface Subset {
  readonly members: readonly number[];
  readonly before: number;
}

/** Subset construction. Reuses its arrays. */
class Subsets {
  private readonly list: readonly State[];
  private readonly alphabet: Alphabet;
  private readonly allowance: Allowance;
  private readonly assertions: number;
  /** The table states of known subsets, by hash. */
  private readonly found = new Map<number, number[]>();
  private readonly subsets: Subset[] = [];
  /** The next state by state and class, with spare capacity: one array per row would take several times the memory. */
  private rows = new Uint16Array(0);
  /** By state: the last round that reached it. */
  private readonly reached: Int32Array;
  private round = 0;
  private readonly open: number[] = [];
  /** The states that the last round found. */
  private readonly closed: number[] = [];
  private closedCount = 0;
  /** By class: the states that its characters lead to. */
  private readonly targets: number[][];

  constructor(
    list: readonly State[],
    alphabet: Alphabet,
    { assertions, allowance }: { readonly assertions: number; readonly allowance: Allowance },
  ) {
    this.list = list;
    this.alphabet = alphabet;
    this.assertions = assertions;
    this.allowance = allowance;
    this.reached = new Int32Array(list.length);
    this.targets = Array.from({ length: alphabet.classCount }, () => []);
  }

  explore(first: number): PatternTable {
    this.add([], 0);
    this.add([first], afterStart & remembered(this.assertions));
    const accepting = [0];
    for (let state = start; state < this.subsets.length; state += 1) {
      this.checkBytes();
      const subset = this.subsets[state];
      if (subset === undefined) break;
      this.writeRow(state, subset);
      accepting.push(this.canEnd(subset) ? 1 : 0);
    }
    return packed(this.alphabet, this.rows.slice(0, accepting.length * this.alphabet.classCount), accepting);
  }

  private checkBytes(): void {
    const { classCount, starts } = this.alphabet;
    const states = this.subsets.length;
    if (states > maxStates || bytesOf(states, classCount, starts.length) > this.allowance.bytes)
      throw new TooCostly('bytes');
  }

  /** Stores the next state for each class. Classes that lead to no match stay 0. */
  private writeRow(state: number, subset: Subset): void {
    const { classCount, examples } = this.alphabet;
    const at = state * classCount;
    if (this.rows.length < at + classCount) this.rows = grown(this.rows, at + classCount);
    const only = this.assertions === 0 ? this.onlyReader(subset.members) : undefined;
    if (only !== undefined) {
      this.writeReader(at, only);
      return;
    }
    const used = this.assertions === 0 ? this.lead(subset.members, () => true) : this.leadByAssertions(subset);
    let before: readonly number[] = [];
    let next = dead;
    for (const characterClass of used) {
      const target = this.targets[characterClass] ?? [];
      // Neighboring classes mostly lead to the same state.
      if (this.assertions !== 0 || !areEqual(target, before))
        next = this.add(target, rememberedOf(examples[characterClass] ?? 0) & remembered(this.assertions));
      before = target;
      this.rows[at + characterClass] = next;
    }
    for (const characterClass of used) {
      const target = this.targets[characterClass];
      if (target !== undefined) target.length = 0;
    }
  }

  /** The member that reads a character if no other does, which is so in most parts of most patterns. */
  private onlyReader(members: readonly number[]): Reading | undefined {
    let only: Reading | undefined;
    for (const member of members) {
      const state = this.list[member];
      if (state?.type !== 'set') continue;
      if (only !== undefined) return undefined;
      only = state;
    }
    return only;
  }

  /** Writes a row in which all classes of a set lead to one state. */
  private writeReader(at: number, { set, next }: Reading): void {
    const classes = this.alphabet.classesOfSet[set] ?? [];
    spend(this.allowance, classes.length);
    if (classes.length === 0) return;
    const after = this.add([next], 0);
    for (const characterClass of classes) this.rows[at + characterClass] = after;
  }

  private leadByAssertions({ members, before }: Subset): readonly number[] {
    const { examples } = this.alphabet;
    const holding = examples.map((example) => assertionsBetween(before, example));
    const used = new Set<number>();
    for (const some of new Set(holding)) {
      this.close(members, some);
      for (const characterClass of this.lead(this.closed.slice(0, this.closedCount), (one) => holding[one] === some))
        used.add(characterClass);
    }
    return [...used];
  }

  /** Collects the targets of states for the selected classes. Returns the classes that have any. */
  private lead(members: readonly number[], isMeant: (characterClass: number) => boolean): readonly number[] {
    const used: number[] = [];
    for (const member of members) {
      const state = this.list[member];
      if (state?.type !== 'set') continue;
      const classes = this.alphabet.classesOfSet[state.set] ?? [];
      spend(this.allowance, classes.length);
      for (const characterClass of classes) {
        if (!isMeant(characterClass)) continue;
        const target = this.targets[characterClass];
        if (target?.push(state.next) === 1) used.push(characterClass);
      }
    }
    return used;
  }

  private canEnd({ members, before }: Subset): boolean {
    this.close(members, assertionsBetween(before, undefined));
    return this.reached[endState] === this.round;
  }

  /** The table state for everything reachable from some states, created if absent. */
  private add(targets: readonly number[], before: number): number {
    const hash = this.close(targets, undefined) ^ before;
    spend(this.allowance, 10 + this.closedCount);
    const candidates = this.found.get(hash);
    const known = candidates?.find((state) => this.isClosed(this.subsets[state], before));
    if (known !== undefined) return known;
    const state = this.subsets.push({ members: this.closed.slice(0, this.closedCount), before }) - 1;
    if (candidates === undefined) this.found.set(hash, [state]);
    else candidates.push(state);
    return state;
  }

  /** Whether a subset equals the result of the last round. */
  private isClosed(subset: Subset | undefined, before: number): boolean {
    return (
      subset?.before === before &&
      subset.members.length === this.closedCount &&
      subset.members.every((member) => this.reached[member] === this.round)
    );
  }

  /**
   * Finds the states reachable without reading a character: reading states, the end, and assertions. Continues after
   * assertions that hold; after none if that is unknown (`undefined`). Returns a hash of the result.
   */
  private close(from: ArrayLike<number>, holding: number | undefined): number {
    const { open, reached, closed, list } = this;
    this.round += 1;
    this.closedCount = 0;
    let hash = 0;
    for (let index = 0; index < from.length; index += 1) open.push(from[index] ?? 0);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      spend(this.allowance, 1);
      if (reached[at] === this.round) continue;
      reached[at] = this.round;
      const state = list[at];
      if (state?.type === 'fork') {
        open.push(state.next, state.other);
        continue;
      }
      closed[this.closedCount] = at;
      this.closedCount += 1;
      hash = (hash + scattered(at)) | 0;
      if (state?.type === 'assertion' && holding !== undefined && (held[state.assertion] & holding) !== 0)
        open.push(state.next);
    }
    return hash;
  }
}

/** Spreads the bits of a number over 32, so that sums of different numbers rarely collide. */
function scattered(number: number): number {
  const mixed = Math.imul(number + 1, 0x9e_37_79_b1);
  return Math.imul(mixed ^ (mixed >>> 15), 0x85_eb_ca_6b);
}

function areEqual(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((member, index) => member === other[index]);
}

/** The properties of the previous character that these assertions need. */
function remembered(assertions: number): number {
  const ofText = (assertions & (held.textStart | held.lineStart)) === 0 ? 0 : afterStart;
  const ofLine = (assertions & held.lineStart) === 0 ? 0 : afterLineFeed;
  const ofWord = (assertions & (held.wordBoundary | held.noWordBoundary)) === 0 ? 0 : afterWord;
  return ofText | ofLine | ofWord;
}

function rememberedOf(character: number): number {
  return (character === lineFeed ? afterLineFeed : 0) | (isWord(character) ? afterWord : 0);
}

/** The assertions that hold before a character, or at the end. */
function assertionsBetween(before: number, character: number | undefined): number {
  const isAfterWord = (before & afterWord) !== 0;
  const isBeforeWord = character !== undefined && isWord(character);
  return (
    ((before & afterStart) === 0 ? 0 : held.textStart | held.lineStart) |
    ((before & afterLineFeed) === 0 ? 0 : held.lineStart) |
    (character === undefined ? held.textEnd | held.lineEnd : 0) |
    (character === lineFeed ? held.lineEnd : 0) |
    (isAfterWord === isBeforeWord ? held.noWordBoundary : held.wordBoundary)
  );
}

function isWord(character: number): boolean {
  return (
    character === 0x5f ||
    (character >= 0x30 && character <= 0x39) ||
    ((character | 0x20) >= 0x61 && (character | 0x20) <= 0x7a && character < 0x80)
  );
}

const asciiCount = 0x80;

function bytesOf(states: number, classCount: number, ranges: number): number {
  return states * (2 * classCount + 1) + 6 * ranges + 2 * asciiCount;
}

/** A copy with a capacity of at least `least`. */
function grown(numbers: Uint16Array<ArrayBuffer>, least: number): Uint16Array<ArrayBuffer> {
  const more = new Uint16Array(Math.max(least, 2 * numbers.length));
  more.set(numbers);
  return more;
}

function packed(
  { starts, classes, classCount }: Alphabet,
  next: Uint16Array,
  accepting: readonly number[],
): PatternTable {
  const asciiClasses = new Uint16Array(asciiCount);
  for (let range = 0; (starts[range] ?? asciiCount) < asciiCount; range += 1)
    asciiClasses.fill(classes[range] ?? 0, starts[range]);
  return {
    asciiClasses,
    rangeStarts: starts,
    rangeClasses: classes,
    classCount,
    next,
    accepting: Uint8Array.from(accepting),
    bytes: bytesOf(accepting.length, classCount, starts.length),
  };
}
