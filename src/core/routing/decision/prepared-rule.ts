import type { BackendFilter, ConfigKey, MirrorFilter, PathModifier, RedirectFilter, Retry, RouteBackend, RouteFilter, RouteRule } from '../config.ts';
import { prepareAuthorization } from './authorization.ts';
import type { Authorization } from './authorization.ts';
import { compileCors } from './cors.ts';
import type { Cors } from './cors.ts';
import { compileHeaderEdits } from './header-edits.ts';
import type { HeaderEdits } from './header-edits.ts';
import { sendableModifier } from './location.ts';

/** A rule of a route with everything prepared that does not depend on the request. */
export interface PreparedRule {
  /** Set: every request that matches is answered 500; the text says why. */
  readonly failure: string | undefined;
  readonly requestEdits: readonly HeaderEdits[];
  readonly responseEdits: readonly HeaderEdits[];
  readonly redirect: RedirectFilter | undefined;
  readonly cors: Cors | undefined;
  /** Who has to permit each request before it is redirected or forwarded. */
  readonly authorization: Authorization | undefined;
  /** In the order of the route, those with weight 0 included. */
  readonly backends: readonly PreparedBackend[];
  /** Milliseconds; 0: no limit. */
  readonly requestTimeout: number;
  readonly backendRequestTimeout: number;
  /** Absent: only connections that failed are tried again, as far as the proxy's own limits go. */
  readonly retry: Retry | undefined;
}

/** A backendRef with the filters of its rule and its own, in the order in which they apply. */
export interface PreparedBackend {
  /** `namespace/service/port`; `invalid` for one that cannot be used. */
  readonly label: string;
  readonly weight: number;
  /** `undefined`: its share of requests is answered 500. */
  readonly endpoints: ConfigKey | undefined;
  /** Why `endpoints` is undefined. */
  readonly problem: string | undefined;
  readonly requestEdits: readonly HeaderEdits[];
  readonly responseEdits: readonly HeaderEdits[];
  /** The backend's own rewrite takes precedence over the rule's. */
  readonly hostname: string | undefined;
  readonly path: PathModifier | undefined;
  /** Mirrors of the rule, then the backend's own. */
  readonly mirrors: readonly MirrorFilter[];
}

/** Prepares a rule. Pure: rules that say the same are prepared alike. */
export function prepareRule(rule: RouteRule): PreparedRule {
  const redirect = rule.filters.find((filter) => filter.type === 'redirect');
  const cors = rule.filters.find((filter) => filter.type === 'cors');
  const ofRule = changesOf(rule.filters);
  return {
    requestEdits: ofRule.requestEdits,
    responseEdits: ofRule.responseEdits,
    failure: rule.failure,
    redirect: redirect === undefined ? undefined : withSendablePath(redirect),
    cors: cors === undefined ? undefined : compileCors(cors),
    authorization: prepareAuthorization(rule.filters),
    backends: rule.backends.map((backend) => prepareBackend(backend, ofRule)),
    requestTimeout: rule.requestTimeout ?? 0,
    backendRequestTimeout: rule.backendRequestTimeout ?? 0,
    retry: rule.retry,
  };
}

type Changes = Pick<PreparedBackend, 'requestEdits' | 'responseEdits' | 'hostname' | 'path' | 'mirrors'>;

function prepareBackend({ target, weight, filters }: RouteBackend, ofRule: Changes): PreparedBackend {
  const own = changesOf(filters);
  const usable = target.type === 'endpoints';
  return {
    label: usable ? target.key.replace(/^endpoints\//, '') : 'invalid',
    weight,
    endpoints: usable ? target.key : undefined,
    problem: usable ? undefined : target.reason,
    requestEdits: [...ofRule.requestEdits, ...own.requestEdits],
    responseEdits: [...ofRule.responseEdits, ...own.responseEdits],
    hostname: own.hostname ?? ofRule.hostname,
    path: own.path ?? ofRule.path,
    mirrors: [...ofRule.mirrors, ...own.mirrors],
  };
}

function changesOf(filters: readonly (RouteFilter | BackendFilter)[]): Changes {
  const rewrite = filters.find((filter) => filter.type === 'rewrite');
  return {
    requestEdits: compileHeaderEdits(filters, 'requestHeaders'),
    responseEdits: compileHeaderEdits(filters, 'responseHeaders'),
    hostname: rewrite?.hostname,
    path: sendableModifier(rewrite?.path),
    mirrors: filters.filter((filter) => filter.type === 'mirror'),
  };
}

function withSendablePath(redirect: RedirectFilter): RedirectFilter {
  const path = sendableModifier(redirect.path);
  return path === undefined ? redirect : { ...redirect, path };
}
