import { hostnamesOf } from '../../graph/route-views.ts';
import { quoteRef } from '../../resources/reference.ts';
import { attachmentRule } from './route-attachment.ts';

export const noMatchingListenerHostname = attachmentRule({
  id: 'no-matching-listener-hostname',
  outcome: 'noHostname',
  summary: 'No hostname of the route intersects with a hostname of the listeners.',
  reason: 'NoMatchingListenerHostname',
  source: 'Gateway API v1.7.0, HTTPRouteSpec.hostnames; RouteReasonNoMatchingListenerHostname',
  describe(attachment, outcome, route) {
    const own = hostnamesOf(route).join(', ');
    const listeners = outcome.listeners.map((listener) => `${listener.name} (${listener.hostname})`).join(', ');
    return {
      value: own,
      message: `No hostname of the route matches a listener of ${quoteRef(attachment.parent)}. Use a hostname that a listener allows, or attach to another parent. Listeners: ${listeners}; hostnames: ${own}.`,
    };
  },
});
