import { listenerSetParent, type ListenerSetParent } from '../../graph/listener-sets.ts';
import type { Path } from '../../resources/path.ts';
import { describeRef, qualifiedName } from '../../resources/reference.ts';
import type { Resource } from '../../resources/resource.ts';
import { warned } from '../engine/effects.ts';
import { rule, type Consequence } from '../engine/rule.ts';

// Another object, applied a second later, may cure each of these: admission warns, status tells.

interface ParentFinding {
  readonly path: Path;
  readonly message: string;
}

/** Declares the rule for one way in which a ListenerSet fails to add its listeners to a Gateway. */
function listenerSetRule(declaration: {
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
      if (parent?.type === outcome) report({ value: qualifiedName(parent), ...describe(describeRef({ kind: 'Gateway', ...parent }), set) });
    },
  });
}

export const listenerSetParentNotFound = listenerSetRule({
  id: 'listener-set-parent-not-found',
  outcome: 'absent',
  summary: 'A ListenerSet names a Gateway that does not exist.',
  source: 'Gateway API v1.7.0, ListenerSet.spec.parentRef',
  describe: (gateway) => ({
    path: ['spec', 'parentRef'],
    message: `${gateway} has not been seen. Check name and namespace, or apply it; until then these listeners are not served.`,
  }),
});

export const listenerSetNotAllowed = listenerSetRule({
  id: 'listener-set-not-allowed',
  outcome: 'notAllowed',
  summary: 'A ListenerSet names a Gateway that does not allow it.',
  consequence: { condition: 'Accepted', reason: 'NotAllowed', scope: 'object' },
  source: 'Gateway API v1.7.0, Gateway.spec.allowedListeners; ListenerSetReasonNotAllowed',
  describe: (gateway, { ref }) => ({
    path: ['spec', 'parentRef'],
    message: `${gateway} allows no ListenerSet from the namespace ${ref.namespace}, so these listeners are not served. Its owner can admit it in spec.allowedListeners.namespaces (from: Same, All, or a Selector that matches); without it none is admitted.`,
  }),
});

export const listenerSetRules = [listenerSetParentNotFound, listenerSetNotAllowed];
