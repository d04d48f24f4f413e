import { listenerSetRule } from './listener-set-parent.ts';

export const listenerSetNotAllowed = listenerSetRule({
  id: 'listener-set-not-allowed',
  outcome: 'notAllowed',
  summary: 'A ListenerSet names a Gateway that does not allow it.',
  consequence: { condition: 'Accepted', reason: 'NotAllowed', scope: 'object' },
  source: 'Gateway API v1.7.0, Gateway.spec.allowedListeners; ListenerSetReasonNotAllowed',
  describe: (gateway, { ref }) => ({
    path: ['spec', 'parentRef'],
    message: `${gateway} does not allow ListenerSets from namespace "${ref.namespace}", so these listeners are not served. The owner of the Gateway can allow them in spec.allowedListeners.namespaces (from: Same, All or Selector). By default, none are allowed.`,
  }),
});
