import type { ConfigKey, PathModifier, RouteBackend, RouteConfig, RouteFilter, RouteRule } from '../core/routing/config.ts';
import { Balancer } from './balancer.ts';
import { compileCors } from './cors.ts';
import type { Cors } from './cors.ts';
import { compileHeaderEdits } from './header-edits.ts';
import type { HeaderEdits } from './header-edits.ts';
import { sendableModifier } from './location.ts';
import type { Redirect } from './location.ts';
import { compileMirrors } from './mirror.ts';
import type { Mirror } from './mirror.ts';
import { compileRetry } from './retry.ts';
import type { RetryPolicy } from './retry.ts';

/** A rule with everything prepared that does not depend on the request. */
export interface CompiledRule {
  readonly fails: boolean;
  readonly requestEdits: readonly HeaderEdits[];
  readonly responseEdits: readonly HeaderEdits[];
  readonly redirect: Redirect | undefined;
  readonly cors: Cors | undefined;
  readonly backends: Balancer<CompiledBackend>;
  /** Milliseconds; 0: no limit. */
  readonly requestTimeout: number;
  readonly backendRequestTimeout: number;
  /** Absent: only connections that failed are tried again, as far as the proxy's own limits go. */
  readonly retry: RetryPolicy | undefined;
}

export interface CompiledBackend {
  /** `namespace/service/port`; `invalid` for one that cannot be used. */
  readonly label: string;
  /** `undefined`: its share of requests is answered 500. */
  readonly endpoints: ConfigKey | undefined;
  /** Edits of the rule, then the backend's own. */
  readonly requestEdits: readonly HeaderEdits[];
  readonly responseEdits: readonly HeaderEdits[];
  /** The backend's own word goes before that of the rule. */
  readonly hostname: string | undefined;
  readonly path: PathModifier | undefined;
  /** Those of the rule, then the backend's own. */
  readonly mirrors: readonly Mirror[];
}

/** Rules of a route, compiled; balancers go on where those of the route's previous version stand. */
export function compileRules(route: RouteConfig, previous: ReadonlyMap<number, CompiledRule>): Map<number, CompiledRule> {
  return new Map(route.rules.map((rule) => [rule.index, compileRule(rule, previous.get(rule.index))]));
}

function compileRule(rule: RouteRule, previous: CompiledRule | undefined): CompiledRule {
  const redirect = rule.filters.find((filter) => filter.type === 'redirect');
  const cors = rule.filters.find((filter) => filter.type === 'cors');
  const edits = {
    requestEdits: compileHeaderEdits(rule.filters, 'requestHeaders'),
    responseEdits: compileHeaderEdits(rule.filters, 'responseHeaders'),
  };
  const ofRule = { ...edits, ...compileRewrite(rule.filters), mirrors: compileMirrors(rule.filters) };
  const backends = rule.backends.map((backend) => ({ weight: backend.weight, value: compileBackend(backend, ofRule) }));
  return {
    ...edits,
    fails: rule.failure !== undefined,
    redirect: redirect === undefined ? undefined : withSendablePath(redirect),
    cors: cors === undefined ? undefined : compileCors(cors),
    backends: new Balancer(backends, previous?.backends),
    requestTimeout: rule.requestTimeout ?? 0,
    backendRequestTimeout: rule.backendRequestTimeout ?? 0,
    retry: rule.retry === undefined ? undefined : compileRetry(rule.retry),
  };
}

type Changes = Omit<CompiledBackend, 'label' | 'endpoints'>;

function compileBackend({ target, filters }: RouteBackend, ofRule: Changes): CompiledBackend {
  const usable = target.type === 'endpoints';
  const { hostname, path } = compileRewrite(filters);
  return {
    label: usable ? target.key.replace(/^endpoints\//, '') : 'invalid',
    endpoints: usable ? target.key : undefined,
    requestEdits: [...ofRule.requestEdits, ...compileHeaderEdits(filters, 'requestHeaders')],
    responseEdits: [...ofRule.responseEdits, ...compileHeaderEdits(filters, 'responseHeaders')],
    hostname: hostname ?? ofRule.hostname,
    path: path ?? ofRule.path,
    mirrors: [...ofRule.mirrors, ...compileMirrors(filters)],
  };
}

function compileRewrite(filters: readonly RouteFilter[]): Pick<CompiledBackend, 'hostname' | 'path'> {
  const rewrite = filters.find((filter) => filter.type === 'rewrite');
  return { hostname: rewrite?.hostname, path: sendableModifier(rewrite?.path) };
}

function withSendablePath(redirect: Redirect): Redirect {
  const path = sendableModifier(redirect.path);
  return path === undefined ? redirect : { ...redirect, path };
}
