import { listenerSetRule } from './listener-set-parent.ts';

export const listenerSetParentNotFound = listenerSetRule({
  id: 'listener-set-parent-not-found',
  outcome: 'absent',
  summary: 'A ListenerSet names a Gateway that does not exist.',
  source: 'Gateway API v1.7.0, ListenerSet.spec.parentRef',
  describe: (gateway) => ({
    path: ['spec', 'parentRef'],
    message: `${gateway} not found. Check its name and namespace, or create it. Until then, these listeners are not served.`,
  }),
});
