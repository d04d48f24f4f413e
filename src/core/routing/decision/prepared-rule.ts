import { endpointsLabel } from '../../graph/backends/endpoints-key.ts';
import type {
  BackendFilter,
  ConfigKey,
  InvalidTarget,
  MirrorFilter,
  PathModifier,
  RedirectFilter,
  Retry,
  RouteBackend,
  RouteFilter,
  RouteRule,
  Session,
} from '../config.ts';
import { prepareAuthorization } from './authorization.ts';
import type { Authorization } from './authorization.ts';
import { compileCors } from './cors.ts';
import type { Cors } from './cors.ts';
import { compileHeaderEdits } from './header-edits.ts';
import type { HeaderEdits } from './header-edits.ts';
import { sendableModifier } from './location.ts';

/** A route rule with all data prepared that does not depend on the request. */
export interface PreparedRule {
  /** If set, every matching request gets a 500 response; the text is the reason. */
  readonly failure: string | undefined;
  readonly requestEdits: readonly HeaderEdits[];
  readonly responseEdits: readonly HeaderEdits[];
  readonly redirect: RedirectFilter | undefined;
  readonly cors: Cors | undefined;
  /** The authorization of requests before they are redirected or forwarded. */
  readonly authorization: Authorization | undefined;
  /** In the order of the route, including those with weight 0. */
  readonly backends: readonly PreparedBackend[];
  /** In milliseconds; 0: no limit. */
  readonly requestTimeout: number;
  readonly backendRequestTimeout: number;
  /** Absent: only failed connections are retried, within the limits of the proxy. */
  readonly retry: Retry | undefined;
  readonly session: Session | undefined;
}

/** A backendRef with the filters of its rule and its own, in order of application. */
export interface PreparedBackend {
  /** `namespace/service/port`, or `invalid` if it cannot be used. */
  readonly label: string;
  readonly weight: number;
  /** `undefined`: its share of requests gets a 500 response. */
  readonly endpoints: ConfigKey | undefined;
  /** Why `endpoints` is undefined. */
  readonly problem: InvalidTarget | undefined;
  readonly requestEdits: readonly HeaderEdits[];
  readonly responseEdits: readonly HeaderEdits[];
  /** The rewrite of the backendRef takes precedence over the rule's. */
  readonly hostname: string | undefined;
  readonly path: PathModifier | undefined;
  /** The mirrors of the rule, then those of the backendRef. */
  readonly mirrors: readonly MirrorFilter[];
  /** The session persistence of the rule, otherwise that of the backend. */
  readonly session: Session | undefined;
}

/** Prepares a rule. Pure: equal rules give equal results. */
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
    backends: rule.backends.map((backend) => ({
      ...prepareBackend(backend, ofRule),
      session: rule.session ?? backend.session,
    })),
    requestTimeout: rule.requestTimeout ?? 0,
    backendRequestTimeout: rule.backendRequestTimeout ?? 0,
    retry: rule.retry,
    session: rule.session,
  };
}

type Changes = Pick<PreparedBackend, 'requestEdits' | 'responseEdits' | 'hostname' | 'path' | 'mirrors'>;

function prepareBackend({ target, weight, filters }: RouteBackend, ofRule: Changes): Omit<PreparedBackend, 'session'> {
  const own = changesOf(filters);
  const usable = target.type === 'endpoints';
  return {
    label: usable ? endpointsLabel(target.key) : 'invalid',
    weight,
    endpoints: usable ? target.key : undefined,
    problem: usable ? undefined : target,
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
