import { formatDuration, parseDuration } from '../../text/duration.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { recorded, warned } from '../engine/effects.ts';

// Timeouts and retries that say something else than was probably meant.

interface Timeouts {
  readonly request?: string;
  readonly backendRequest?: string;
}

interface Retry {
  readonly attempts?: number;
  readonly backoff?: string;
  readonly codes?: readonly number[];
}

interface RouteRule {
  readonly timeouts?: Timeouts;
  readonly retry?: Retry;
  readonly matches?: readonly { readonly method?: string }[];
  readonly filters?: readonly { readonly type?: string }[];
  readonly backendRefs?: readonly unknown[];
}

/** A text that is no duration is the concern of another rule. */
function milliseconds(text: string | undefined): number | undefined {
  const parsed = text === undefined ? undefined : parseDuration(text);
  return parsed?.ok === true ? parsed.milliseconds : undefined;
}

export const backendTimeoutUnlimited = unenforcedRule({
  id: 'backend-timeout-unlimited',
  summary: 'The timeout of one backend request is switched off while the whole request has one.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteTimeouts.backendRequest ("0s ... disabled"); GEP-2257',
}, function judge({ request, backendRequest }: Timeouts, report) {
  if (milliseconds(backendRequest) !== 0 || (milliseconds(request) ?? 0) === 0) return;
  report({ below: ['backendRequest'], value: backendRequest ?? '', message: `backendRequest: ${backendRequest} means no limit, yet the whole request ends after ${request}. Leave backendRequest out, or write how long one try may take.` });
});

/** More than this is no plan. */
const manyAttempts = 100;

export const retryOutlastsTimeout = unenforcedRule({
  id: 'retry-outlasts-timeout',
  summary: 'The request ends before all of its retries could be made.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteRetry.attempts and .backoff, HTTPRouteTimeouts.request (spans all retries)',
}, function judge({ retry: { attempts = 1, backoff } = {}, timeouts: { request } = {} }: RouteRule, report) {
  const [whole, pause] = [milliseconds(request) ?? 0, milliseconds(backoff) ?? 0];
  const waiting = attempts * pause;
  if (whole > 0 && waiting > whole) {
    const total = formatDuration(waiting);
    report({ below: ['retry', 'attempts'], value: String(attempts), message: `${attempts} retries with a backoff of ${backoff} wait for ${total.ok ? total.text : 'longer'} together, but the request ends after ${request}. Write fewer attempts, a shorter backoff, or a longer timeouts.request.` });
  } else if (attempts > manyAttempts) {
    report({ below: ['retry', 'attempts'], value: String(attempts), message: `${attempts} retries would multiply the load of a backend that is failing already. Write a small number such as 2.` });
  }
});

export const retrySwitchedOff = unenforcedRule({
  id: 'retry-switched-off',
  summary: 'Retries are switched off, but their settings are there.',
  effect: recorded,
  source: 'Gateway API v1.7.0, HTTPRouteRetry.attempts (0 disables retries)',
}, function judge({ attempts, backoff, codes = [] }: Retry, report) {
  if (attempts !== 0 || (backoff === undefined && codes.length === 0)) return;
  report({ below: ['attempts'], value: '0', message: 'attempts: 0 switches retries off, so codes and backoff have no effect. Write attempts: 1 or more, or remove codes and backoff.' });
});

export const retryWithoutBackend = unenforcedRule({
  id: 'retry-without-backend',
  summary: 'Retries are set for a rule that forwards no request.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteRule.retry',
}, function judge({ retry, filters = [], backendRefs = [] }: RouteRule, report) {
  if (retry === undefined || (backendRefs.length > 0 && !filters.some(({ type }) => type === 'RequestRedirect'))) return;
  report({ below: ['retry'], message: 'This rule sends no request to a backend, so there is nothing to retry. Remove retry, or write backendRefs.' });
});

/** Methods that a second time may do what they did the first time once more (RFC 9110 section 9.2.2). */
const repeating: ReadonlySet<string> = new Set(['POST', 'PATCH']);

export const retryRepeatsEffects = unenforcedRule({
  id: 'retry-repeats-effects',
  summary: 'Answers are retried after requests that must not be made twice.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteRetry.codes; RFC 9110 section 9.2.2 (idempotent methods)',
}, function judge({ retry: { attempts = 1, codes = [] } = {}, matches = [] }: RouteRule, report) {
  if (attempts === 0 || codes.length === 0 || matches.length === 0 || !matches.every(({ method = '' }) => repeating.has(method))) return;
  const methods = [...new Set(matches.map(({ method }) => method))].join(' and ');
  report({ below: ['retry', 'codes'], value: codes.join(', '), message: `This rule matches ${methods} alone, and a backend that answers ${codes.join(' or ')} may have done what was asked: a retry would do it twice. Remove codes unless the backend recognises repetitions.` });
});

const usualCodes: readonly number[] = [500, 502, 503, 504];

export const retryCodeUnusual = unenforcedRule({
  id: 'retry-code-unusual',
  summary: 'Retries follow an answer that a second try hardly changes.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteRetryStatusCode (500, 502, 503 and 504 are supported)',
}, function judge(code: number, report) {
  if (code < 400 || code > 599 || usualCodes.includes(code)) return;
  const why = code < 500 ? 'is about the request itself, which stays the same' : 'is not one that implementations have to support';
  report({ below: [], value: String(code), message: `The code ${code} ${why}. Write ${usualCodes.slice(0, -1).join(', ')} or ${usualCodes.at(-1)}, or remove it.` });
});

export const retryBackoff = unenforcedRule({
  id: 'retry-backoff',
  summary: 'How long to wait between retries is left to implementations.',
  effect: recorded,
  source: 'Gateway API v1.7.0, HTTPRouteRetry.backoff (implementation-specific)',
}, function judge(backoff: string, report) {
  report({ below: [], value: backoff, message: `backoff: ${backoff} is the basis of a wait that each implementation computes in its own way; one that does not wait refuses the route. Leave it out where the route shall work everywhere.` });
});
