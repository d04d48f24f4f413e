import { parseDuration } from '../text/duration.ts';
import { denied } from './effects.ts';
import { routeRules } from './parts.ts';
import { rule } from './rule.ts';

export const backendRequestTimeout = rule({
  id: 'backend-request-timeout',
  kinds: ['HTTPRoute'],
  summary: 'The timeout of one backend request is longer than that of the whole request.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  source: 'Gateway API v1.7.0, HTTPRouteTimeouts.backendRequest',
  check(route, _read, report) {
    for (const { rule: { timeouts }, path } of routeRules(route)) {
      const request = milliseconds(timeouts?.request);
      const backendRequest = milliseconds(timeouts?.backendRequest);
      // Zero means no limit, which no timeout exceeds.
      if (request === undefined || backendRequest === undefined || request === 0 || backendRequest <= request) continue;
      report({
        path: [...path, 'timeouts', 'backendRequest'],
        value: timeouts?.backendRequest ?? '',
        message: `backendRequest is ${timeouts?.backendRequest}, but the whole request ends after ${timeouts?.request}. Write backendRequest: ${timeouts?.request} or less, or a longer request.`,
      });
    }
  },
});

/** A text that is no duration is the concern of another rule. */
function milliseconds(text: string | undefined): number | undefined {
  const parsed = text === undefined ? undefined : parseDuration(text);
  return parsed?.ok === true ? parsed.milliseconds : undefined;
}
