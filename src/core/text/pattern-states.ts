import type { Assertion, PatternNode } from './pattern-syntax.ts';

/** A state reads one character of a set, asks whether an assertion holds, goes on in two places at once, or is the end. */
export type State =
  | { readonly type: 'set'; readonly set: number; readonly next: number }
  | { readonly type: 'assertion'; readonly assertion: Assertion; readonly next: number }
  | { readonly type: 'fork'; next: number; other: number }
  | { readonly type: 'end' };

export interface States {
  readonly list: readonly State[];
  readonly first: number;
}

/** The place of the end among the states. */
export const endState = 0;

/**
 * A nondeterministic automaton that reads what a pattern matches, in Thompson's way, with counted repetitions written out: about
 * as many states as the `size` of the root.
 */
export function statesOf(root: PatternNode): States {
  const list: State[] = [{ type: 'end' }];
  return { first: addNode(root, endState, list), list };
}

/** Adds states for a node that lead to `next`, and returns the first of them. */
function addNode(node: PatternNode, next: number, list: State[]): number {
  switch (node.type) {
    case 'empty':
      return next;
    case 'set':
      return list.push({ type: 'set', set: node.set, next }) - 1;
    case 'assertion':
      return list.push({ type: 'assertion', assertion: node.assertion, next }) - 1;
    case 'sequence':
      return node.parts.reduceRight((after, part) => addNode(part, after, list), next);
    case 'choice': {
      const [first = next, ...others] = node.parts.map((part) => addNode(part, next, list));
      return others.reduce((one, other) => list.push({ type: 'fork', next: one, other }) - 1, first);
    }
    case 'repetition':
      return addRepetition(node, next, list);
  }
}

function addRepetition({ body, least, most }: Extract<PatternNode, { type: 'repetition' }>, next: number, list: State[]): number {
  let first = next;
  let required = least;
  if (most === Infinity) {
    const loop: State = { type: 'fork', next, other: next };
    const again = list.push(loop) - 1;
    loop.other = addNode(body, again, list);
    // At least once round means to begin with the body.
    first = least === 0 ? again : loop.other;
    required = Math.max(least - 1, 0);
  } else {
    for (let count = least; count < most; count += 1) first = list.push({ type: 'fork', next, other: addNode(body, first, list) }) - 1;
  }
  for (let count = 0; count < required; count += 1) first = addNode(body, first, list);
  return first;
}
