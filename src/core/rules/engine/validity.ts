import { attachments } from '../../graph/attachment.ts';
import { objectsOf, readObject } from '../../graph/inputs.ts';
import { isOwnerKind, type OwnerKind } from '../../graph/listeners/listener-sets.ts';
import { listenersOf } from '../../graph/listeners/listeners.ts';
import { servedRouteKinds, type ServedRouteKind } from '../../graph/protocols.ts';
import { strata } from '../../graph/strata.ts';
import { withheldBy } from '../../graph/withheld.ts';
import { defineIndex, defineQuery } from '../../incremental/index.ts';
import type { Path } from '../../resources/path.ts';
import { fieldIgnored } from '../support/feature-without-effect.ts';
import { linkFindings } from './link-findings.ts';
import { linkRules } from './link-rules.ts';
import type { PartProblem } from './part-problem.ts';
import type { Consequence, Finding, Scope } from './rule.ts';
import { keyOfRef, qualifiedName } from '../../resources/reference.ts';

const consequences = new Map(linkRules.map((rule) => [rule.id, rule.consequence]));

/** Returns the effect of a finding on status and traffic; `undefined` if they do not react. */
export function consequenceOf(finding: Finding): Consequence | undefined {
  return finding.consequence ?? consequences.get(finding.rule);
}

/** The position in a path that identifies the part of a scope: `spec.rules[2].matches[1]` is match 1 of rule 2. */
const partPositions: Readonly<Record<Scope, number | undefined>> = {
  object: undefined,
  listener: 2,
  listenerFilter: 2,
  parentRef: 2,
  rule: 2,
  mirror: 2,
  target: 2,
  match: 4,
  backendRef: 4,
};

/** The findings that status and traffic react to, with the affected part of the object. */
export const partProblems = defineQuery({
  name: 'partProblems',
  stratum: strata.validity,
  compute(read, kind: string, namespace: string, name: string): readonly PartProblem[] {
    return read.query(linkFindings, kind, namespace, name).flatMap((finding) => {
      const consequence = consequenceOf(finding);
      return consequence === undefined ? [] : [partProblem(finding, consequence)];
    });
  },
});

function partProblem(finding: Finding, { condition, reason, scope }: Consequence): PartProblem {
  const position = partPositions[scope];
  const at = (index: number): number => {
    const value = finding.path[index];
    return typeof value === 'number' ? value : -1;
  };
  return {
    condition,
    reason,
    message: scope === 'listenerFilter' ? `${filterName(finding.path)}${finding.message}` : finding.message,
    scope,
    part: position === undefined ? -1 : at(2),
    member: position === 4 ? at(4) : -1,
  };
}

/** The conditions of a listener must name the filter (GEP-5224). */
function filterName([, , , , , index]: Path): string {
  return index === undefined ? '' : `filters.requests[${index}]: `;
}

/** The parts of a route that work. */
export interface RouteValidity {
  /** Set if no rule can work: the route is not accepted. */
  readonly refused?: { readonly reason: string; readonly message: string };
  /** Position of the rule → the reason why its requests fail. */
  readonly failedRules: Readonly<Record<number, PartProblem>>;
  /** Problems of parts that are dropped while the rest of the route works. */
  readonly dropped: readonly PartProblem[];
}

/**
 * Partial validity (GEP-1364): a route is accepted if at least one rule can produce configuration. An unresolved reference does
 * not prevent acceptance; it affects ResolvedRefs and traffic.
 */
export const routeValidity = defineQuery({
  name: 'routeValidity',
  stratum: strata.validity,
  compute(read, kind: string, namespace: string, name: string): RouteValidity {
    const problems = read.query(partProblems, kind, namespace, name);
    const whole = problems.find((problem) => problem.scope === 'object' && problem.condition === 'Accepted');
    if (whole !== undefined)
      return { refused: { reason: whole.reason, message: whole.message }, failedRules: {}, dropped: [] };

    const rules = readObject(read, kind as ServedRouteKind, namespace, name)?.spec?.rules ?? [];
    const byRule = Map.groupBy(problems, (problem) => problem.part);
    const failed = rules.flatMap((rule, index): [number, PartProblem][] => {
      const failure = failureOf(rule, byRule.get(index) ?? []);
      return failure === undefined ? [] : [[index, failure]];
    });
    const unacceptable = failed.filter(([, problem]) => problem.condition === 'Accepted');
    const [first] = unacceptable;
    const failedRules = Object.fromEntries(failed);
    if (first !== undefined && unacceptable.length === rules.length) {
      return { refused: { reason: first[1].reason, message: first[1].message }, failedRules, dropped: [] };
    }
    const dropped = problems.filter((problem) => problem.condition === 'Accepted' && problem.scope !== 'parentRef');
    return { failedRules, dropped: dropped.sort((one, other) => one.part - other.part || one.member - other.member) };
  },
});

/** Returns the reason why a whole rule cannot work. Problems of Accepted take precedence over those of ResolvedRefs. */
function failureOf(
  rule: { readonly matches?: readonly unknown[]; readonly backendRefs?: readonly unknown[] },
  problems: readonly PartProblem[],
): PartProblem | undefined {
  const ofRule = problems.filter((problem) => problem.scope === 'rule');
  const unacceptable = problems.filter((problem) => problem.condition === 'Accepted');
  return (
    ofRule.find((problem) => problem.condition === 'Accepted') ??
    // A rule without matches has one match by default.
    allMembersFailed(unacceptable, 'match', Math.max(rule.matches?.length ?? 0, 1)) ??
    allMembersFailed(unacceptable, 'backendRef', rule.backendRefs?.length ?? 0) ??
    ofRule[0]
  );
}

function allMembersFailed(problems: readonly PartProblem[], scope: Scope, members: number): PartProblem | undefined {
  const bad = problems.filter((problem) => problem.scope === scope);
  return members > 0 && new Set(bad.map((problem) => problem.member)).size === members ? bad[0] : undefined;
}

/** Returns the reason why the backendRef at a position of a rule gets no traffic, from the problems of that rule. */
export function backendProblem(problems: readonly PartProblem[], backend: number): PartProblem | undefined {
  return problems.find((problem) => problem.scope === 'backendRef' && problem.member === backend);
}

/** The problems of a listener. */
export interface ListenerValidity {
  readonly accepted?: PartProblem;
  readonly conflicted?: PartProblem;
  readonly references?: PartProblem;
  readonly overlapping?: PartProblem;
  readonly ignored?: PartProblem;
  /** Set if a filter cannot run: the listener keeps its hostname, and all of its requests get an error. */
  readonly failure?: PartProblem;
}

/** Returns the problems of one listener: the first one for each condition, those of its filters last. */
export function listenerValidity(problems: readonly PartProblem[], index: number): ListenerValidity {
  const of = (scope: Scope): readonly PartProblem[] =>
    problems.filter((problem) => problem.scope === scope && problem.part === index);
  const ofFilters = of('listenerFilter');
  const ofListener = [...of('listener'), ...ofFilters];
  const first = (condition: string): PartProblem | undefined =>
    ofListener.find((problem) => problem.condition === condition);
  const accepted = first('Accepted');
  const conflicted = first('Conflicted');
  const references = first('ResolvedRefs');
  const overlapping = first('OverlappingTLSConfig');
  const ignored = first(fieldIgnored.condition);
  return {
    ...(accepted && { accepted }),
    ...(conflicted && { conflicted }),
    ...(references && { references }),
    ...(overlapping && { overlapping }),
    ...(ignored && { ignored }),
    ...(ofFilters[0] && { failure: ofFilters[0] }),
  };
}

/** Whether a Gateway or ListenerSet has any listener that can be served. */
export const hasValidListener = defineQuery({
  name: 'hasValidListener',
  stratum: strata.validity,
  compute(read, kind: OwnerKind, namespace: string, name: string): boolean {
    const problems = read.query(partProblems, kind, namespace, name);
    if (servesNothing(problems)) return false;
    return listenersOf(read, { kind, namespace, name }).some(({ index }) => isValid(listenerValidity(problems, index)));
  },
});

/** Reasons that prevent provisioning of data planes, but do not affect running ones. */
const aboutProvisioning: ReadonlySet<string> = new Set(['InvalidParameters', 'UnsupportedAddress']);

/**
 * Returns whether a Gateway or ListenerSet with these problems serves no listener. Running data planes continue even if no new
 * ones can be provisioned: "drop as little traffic as possible" (API design guide, "Conflicts").
 */
export function servesNothing(problems: readonly PartProblem[]): boolean {
  return problems.some((problem) => isRefusal(problem) && !aboutProvisioning.has(problem.reason));
}

function isRefusal({ scope, condition }: PartProblem): boolean {
  return scope === 'object' && condition === 'Accepted';
}

/** Returns the problem that prevents acceptance of the object as a whole. */
export function ownerRefusal(problems: readonly PartProblem[]): PartProblem | undefined {
  return problems.find(isRefusal);
}

/** Returns whether a listener may be served. */
export function isValid({ accepted, conflicted }: ListenerValidity): boolean {
  return accepted === undefined && conflicted === undefined;
}

/**
 * Returns whether data planes get a listener: it is valid, or only its filters are invalid. Without the latter, requests could
 * reach another listener with a wider hostname, which lacks the filters.
 */
export function isConfigured(validity: ListenerValidity): boolean {
  return isValid(validity) || (validity.conflicted === undefined && validity.accepted?.scope === 'listenerFilter');
}

/** Returns the key by which the routes of a listener are indexed. */
export function listenerKey(
  { kind, namespace, name }: { readonly kind: string; readonly namespace: string; readonly name: string },
  listener: string,
): string {
  const owner = kind === 'Gateway' ? qualifiedName({ namespace, name }) : keyOfRef({ kind, namespace, name });
  return ['listener', owner, listener].join('/');
}

/**
 * Accepted routes that are attached to a listener, the number of which is attachedRoutes (ListenerStatus). Bucket: listener
 * key; entry: `kind/namespace/name`.
 */
export const routesOfListener = defineIndex({
  name: 'routesOfListener',
  stratum: strata.findingIndexes,
  over: objectsOf(...servedRouteKinds),
  *entries(read, kind = '', namespace = '', name = '') {
    const route = readObject(read, kind as ServedRouteKind, namespace, name);
    if (route === undefined || read.query(routeValidity, kind, namespace, name).refused !== undefined) return;
    for (const { parent, outcome } of read.query(attachments, kind, namespace, name)) {
      if (outcome.type !== 'attached' || !isOwnerKind(parent.kind)) continue;
      // Its status says that it is not accepted.
      if (withheldBy(read, route, { ...parent, kind: parent.kind }) !== undefined) continue;
      for (const listener of outcome.listeners) {
        yield { bucket: listenerKey(parent, listener.name), entry: keyOfRef({ kind, namespace, name }) };
      }
    }
  },
});
