import { hostnamesOf } from '../../graph/route-views.ts';
import { quoteRef } from '../../resources/reference.ts';
import { display, displayed, someOf } from '../../text/display.ts';
import { attachmentRule } from './route-attachment.ts';

export const noMatchingListenerHostname = attachmentRule({
  id: 'no-matching-listener-hostname',
  outcome: 'noHostname',
  summary: 'No hostname of the route intersects with a hostname of the listeners.',
  reason: 'NoMatchingListenerHostname',
  source: 'Gateway API v1.7.0, HTTPRouteSpec.hostnames; RouteReasonNoMatchingListenerHostname',
  describe(attachment, outcome, route) {
    const own = displayed(hostnamesOf(route));
    const listeners = someOf(outcome.listeners, ({ name, hostname }) => `${display(name)} (${display(hostname)})`);
    return {
      value: own,
      message: `No hostname of the route matches a listener of ${quoteRef(attachment.parent)}. Use a hostname that a listener allows, or attach to another parent. Listeners: ${listeners}; hostnames: ${own}.`,
    };
  },
});
