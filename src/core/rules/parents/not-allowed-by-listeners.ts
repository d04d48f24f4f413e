import { quoteRef } from '../../resources/reference.ts';
import { displayed } from '../../text/display.ts';
import { attachmentRule } from './route-attachment.ts';

export const notAllowedByListeners = attachmentRule({
  id: 'not-allowed-by-listeners',
  outcome: 'notAllowed',
  summary: 'No listener of the parentRef allows routes of this kind or namespace.',
  reason: 'NotAllowedByListeners',
  source: 'Gateway API v1.7.0, AllowedRoutes; RouteReasonNotAllowedByListeners',
  describe(attachment, outcome, route) {
    const [value, refused, cure] =
      outcome.by === 'kind'
        ? [
            route.kind,
            `routes of kind ${route.kind}`,
            'Add the kind to allowedRoutes.kinds of a listener, or attach to a listener with another protocol.',
          ]
        : [
            route.ref.namespace,
            `routes from namespace "${route.ref.namespace}"`,
            'The owner of the listener can allow them in allowedRoutes.namespaces (from: All or Selector).',
          ];
    return {
      value,
      message: `${quoteRef(attachment.parent)} does not allow ${refused}. ${cure} Listeners: ${displayed(outcome.listeners)}.`,
    };
  },
});
