import type { RouteConfig, RouteRule } from '../../core/routing/config.ts';
import { prepareRule } from '../../core/routing/decision/prepared-rule.ts';
import type { PreparedBackend, PreparedRule } from '../../core/routing/decision/prepared-rule.ts';
import { Balancer } from '../upstream/balancer.ts';
import { compileMirrors } from './mirror.ts';
import type { Mirror } from './mirror.ts';
import { compileRetry } from './retry.ts';
import type { RetryPolicy } from './retry.ts';

/** A prepared rule with its runtime state. */
export interface CompiledRule extends Omit<PreparedRule, 'backends' | 'retry'> {
  readonly backends: Balancer<CompiledBackend>;
  /** If undefined, only failed connections are retried, within the proxy's own limits. */
  readonly retry: RetryPolicy | undefined;
}

export interface CompiledBackend extends Omit<PreparedBackend, 'mirrors'> {
  /** The mirrors of the rule, then those of the backend. */
  readonly mirrors: readonly Mirror[];
}

/** Compiles the rules of a route. Balancers continue from the state of the route's previous version. */
export function compileRules(
  route: RouteConfig,
  previous: ReadonlyMap<number, CompiledRule>,
): Map<number, CompiledRule> {
  return new Map(route.rules.map((rule) => [rule.index, compileRule(rule, previous.get(rule.index))]));
}

function compileRule(rule: RouteRule, previous: CompiledRule | undefined): CompiledRule {
  const prepared = prepareRule(rule);
  const backends = prepared.backends.map((backend) => ({
    weight: backend.weight,
    value: { ...backend, mirrors: compileMirrors(backend.mirrors) },
  }));
  return {
    ...prepared,
    backends: new Balancer(backends, previous?.backends),
    retry: prepared.retry === undefined ? undefined : compileRetry(prepared.retry),
  };
}
