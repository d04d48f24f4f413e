/**
 * Makes automata of the patterns in schemas, ahead of time: a regular expression in RE2 syntax, as far as schemas use it,
 * becomes a table of states. Built by Thompson's construction, then by that of subsets.
 */
import type { Automaton } from '../src/core/text/automaton.ts';
import { readPattern, type CharacterSet, type Place } from './pattern-reader.ts';

/** The characters that patterns tell apart, by their code; the last stands for all that are not ASCII. */
const symbols = Array.from({ length: 129 }, (_, code) => code);

/**
 * The automaton of a pattern that may match anywhere in a text.
 *
 * @throws Error where the pattern uses something that is not known here
 */
export function automatonOf(pattern: string): Automaton {
  const first = readPattern(pattern);
  const reachable = placesFrom(first);
  const { classOf, members } = classesOf(reachable);
  const nameOf = (set: ReadonlySet<Place>): string => reachable.flatMap((place, number) => (set.has(place) ? [number] : [])).join(' ');

  const begin = closure([first], 'start');
  const sets = [begin];
  const states = new Map([[nameOf(begin), 0]]);
  const stateOf = (set: ReadonlySet<Place>): number => {
    const name = nameOf(set);
    const state = states.get(name) ?? sets.push(set) - 1;
    states.set(name, state);
    return state;
  };
  const next: number[][] = [];
  for (const set of sets) next.push(members.map((member) => stateOf(step(set, member, first))));
  return { classOf, next, accepting: sets.map((set) => hasMatched(closure([...set], 'end'))) };
}

/** Where one may be after one more character. Once something has matched, the rest of the text is of no account. */
function step(set: ReadonlySet<Place>, symbol: number, first: Place): ReadonlySet<Place> {
  if (hasMatched(set)) return set;
  const taken = [...set].flatMap((place) => (place.type === 'read' && holds(place.takes, symbol) ? [place.next] : []));
  return closure([...taken, first], 'later');
}

/** All places that are reached without reading on, in one part of the text. */
function closure(places: readonly Place[], where: 'start' | 'later' | 'end'): ReadonlySet<Place> {
  const reached = new Set(places);
  for (const place of reached) {
    if (place.type === 'match') return new Set([place]);
    if (place.type === 'fork') for (const next of place.next) reached.add(next);
    if (place.type === where) reached.add(place.next);
  }
  return new Set([...reached].filter(({ type }) => type === 'read' || type === 'end'));
}

function hasMatched(set: ReadonlySet<Place>): boolean {
  return [...set].some(({ type }) => type === 'match');
}

function placesFrom(first: Place): readonly Place[] {
  const reached = new Set([first]);
  for (const place of reached) {
    if (place.type === 'match') continue;
    for (const next of [place.next].flat()) reached.add(next);
  }
  return [...reached];
}

/** Characters that all places treat alike are one class; each has a member that stands for it. */
function classesOf(places: readonly Place[]): { readonly classOf: readonly number[]; readonly members: readonly number[] } {
  const sets = places.flatMap((place) => (place.type === 'read' ? [place.takes] : []));
  const members = new Map<string, number>();
  const names = symbols.map((symbol) => {
    const name = sets.map((set) => Number(holds(set, symbol))).join('');
    if (!members.has(name)) members.set(name, symbol);
    return name;
  });
  const classes = [...members.keys()];
  return { classOf: names.map((name) => classes.indexOf(name)), members: [...members.values()] };
}

function holds({ negated, codes }: CharacterSet, symbol: number): boolean {
  return codes.has(symbol) !== negated;
}
