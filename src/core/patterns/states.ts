import { spend, type Allowance } from './allowance.ts';
import type { Assertion, PatternNode } from './syntax.ts';

/** A state reads one character of a set, tests an assertion, continues in two states at once, or is the end. */
export type State =
  | { readonly type: 'set'; readonly set: number; readonly next: number }
  | { readonly type: 'assertion'; readonly assertion: Assertion; readonly next: number }
  | { readonly type: 'fork'; next: number; other: number }
  | { readonly type: 'end' };

export interface States {
  readonly list: readonly State[];
  readonly first: number;
}

/** The index of the end state. */
export const endState = 0;

/** The effort for a part: one or two states. Nested repetitions count as one part, so their states may be many more than parts. */
const effortOfPart = 4;

/**
 * Builds a nondeterministic automaton for a pattern (Thompson's construction) with counted repetitions expanded. The number
 * of states is about the `size` of the root, except for nested repetitions.
 *
 * @param allowance the work done is subtracted from its effort
 * @throws TooCostly
 */
export function statesOf(root: PatternNode, allowance: Allowance): States {
  const building: Building = { list: [{ type: 'end' }], allowance };
  return { first: addNode(root, endState, building), list: building.list };
}

interface Building {
  readonly list: State[];
  readonly allowance: Allowance;
}

/** Adds the states of a node, which continue at `next`. Returns the first of them. */
function addNode(node: PatternNode, next: number, building: Building): number {
  const { list, allowance } = building;
  spend(allowance, effortOfPart);
  switch (node.type) {
    case 'empty':
      return next;
    case 'set':
      return list.push({ type: 'set', set: node.set, next }) - 1;
    case 'assertion':
      return list.push({ type: 'assertion', assertion: node.assertion, next }) - 1;
    case 'sequence':
      return node.parts.reduceRight((after, part) => addNode(part, after, building), next);
    case 'choice': {
      const [first = next, ...others] = node.parts.map((part) => addNode(part, next, building));
      return others.reduce((one, other) => list.push({ type: 'fork', next: one, other }) - 1, first);
    }
    case 'repetition':
      return addRepetition(node, next, building);
  }
}

function addRepetition(
  { body, least, most }: Extract<PatternNode, { type: 'repetition' }>,
  next: number,
  building: Building,
): number {
  const { list } = building;
  let first = next;
  let required = least;
  if (most === Infinity) {
    const loop: State = { type: 'fork', next, other: next };
    const again = list.push(loop) - 1;
    loop.other = addNode(body, again, building);
    // With at least one iteration, the body comes first.
    first = least === 0 ? again : loop.other;
    required = Math.max(least - 1, 0);
  } else {
    for (let count = least; count < most; count += 1)
      first = list.push({ type: 'fork', next, other: addNode(body, first, building) }) - 1;
  }
  for (let count = 0; count < required; count += 1) first = addNode(body, first, building);
  return first;
}
