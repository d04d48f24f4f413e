import { describeRef } from '../../resources/reference.ts';
import { attachmentRule } from './route-attachment.ts';

export const notAllowedByListeners = attachmentRule({
  id: 'not-allowed-by-listeners',
  outcome: 'notAllowed',
  summary: 'No listener that the parentRef addresses allows routes of this kind or namespace.',
  reason: 'NotAllowedByListeners',
  source: 'Gateway API v1.7.0, AllowedRoutes; RouteReasonNotAllowedByListeners',
  describe(attachment, outcome, route) {
    const [value, refused, cure] =
      outcome.by === 'kind'
        ? [route.kind, `routes of kind ${route.kind}`, "Add it to a listener's allowedRoutes.kinds, or attach where the protocol carries it."]
        : [route.ref.namespace, `routes from the namespace ${route.ref.namespace}`, 'Its owner can admit them in allowedRoutes.namespaces (from: All, or a Selector that matches).'];
    return { value, message: `${describeRef(attachment.parent)} allows no ${refused}. ${cure} Asked: listener${outcome.listeners.length === 1 ? '' : 's'} ${outcome.listeners.join(', ')}.` };
  },
});
