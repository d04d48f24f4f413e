import { listenerSetParent, type ListenerSetParent } from '../../graph/listener-sets.ts';
import type { Path } from '../../resources/path.ts';
import { quoteRef, qualifiedName } from '../../resources/reference.ts';
import type { Resource } from '../../resources/resource.ts';
import { warned } from '../engine/effects.ts';
import { type Consequence, rule } from '../engine/rule.ts';

// Another object, applied a second later, may cure each of these: admission warns, status tells.

interface ParentFinding {
  readonly path: Path;
  readonly message: string;
}

/** Declares the rule for one way in which a ListenerSet fails to add its listeners to a Gateway. */
export function listenerSetRule(declaration: {
  readonly id: string;
  readonly outcome: ListenerSetParent['type'];
  readonly summary: string;
  readonly consequence?: Consequence;
  readonly source: string;
  readonly describe: (gateway: string, set: Resource<'ListenerSet'>) => ParentFinding;
}) {
  const { outcome, describe, ...frame } = declaration;
  return rule({
    ...frame,
    kinds: ['ListenerSet'],
    effect: warned,
    check(set, read, report) {
      const parent = read.query(listenerSetParent, set.ref.namespace, set.ref.name);
      if (parent?.type === outcome) report({ value: qualifiedName(parent), ...describe(quoteRef({ kind: 'Gateway', ...parent }), set) });
    },
  });
}
