import { hostnamesOf } from '../../graph/route-views.ts';
import { describeRef } from '../../resources/reference.ts';
import { attachmentRule } from './route-attachment.ts';

export const noMatchingListenerHostname = attachmentRule({
  id: 'no-matching-listener-hostname',
  outcome: 'noHostname',
  summary: "None of the route's hostnames intersects a hostname of the listeners.",
  reason: 'NoMatchingListenerHostname',
  source: 'Gateway API v1.7.0, HTTPRouteSpec.hostnames; RouteReasonNoMatchingListenerHostname',
  describe(attachment, outcome, route) {
    const own = hostnamesOf(route).join(', ');
    const listeners = outcome.listeners.map((listener) => `${listener.name} (${listener.hostname})`).join(', ');
    return { value: own, message: `No listener of ${describeRef(attachment.parent)} covers a hostname of this route. Use a hostname that one covers, or attach elsewhere. Listeners: ${listeners}; hostnames: ${own}.` };
  },
});
