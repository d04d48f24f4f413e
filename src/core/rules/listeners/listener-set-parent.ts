import { listenerSetParent, type ListenerSetParent } from '../../graph/listeners/listener-sets.ts';
import type { Path } from '../../resources/path.ts';
import { quoteRef, qualifiedName } from '../../resources/reference.ts';
import type { Resource } from '../../resources/resource.ts';
import { warned } from '../engine/effects.ts';
import { type Consequence, rule } from '../engine/rule.ts';

// Another object that is applied later may fix each of these. Admission therefore only warns, and status reports the problem.

interface ParentFinding {
  readonly path: Path;
  readonly message: string;
}

/** Declares a rule for one outcome of a ListenerSet that cannot add its listeners to a Gateway. */
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
      if (parent?.type === outcome)
        report({ value: qualifiedName(parent), ...describe(quoteRef({ kind: 'Gateway', ...parent }), set) });
    },
  });
}
