import type { Bundle, SchemaKind } from '../schema/index.ts';
import { describeRef, qualifiedName } from '../resources/reference.ts';
import { judgeClients } from './clients.ts';
import { judgeControllers } from './controllers.ts';
import { judgeKubernetes, judgeObservation, judgeOwners, judgePolicies } from './environment.ts';
import type { ClusterFacts } from './facts.ts';
import type { PreflightFinding } from './finding.ts';
import { judgeKinds } from './kinds.ts';
import { judgeObjects } from './objects.ts';
import { judgeStoredVersions, type KindPopulation } from './stored-versions.ts';
import type { StoredObject, Target } from './target.ts';

/**
 * Reports all problems of changing the CRDs of a cluster to those of another bundle, and the effects on stored objects. Effects
 * on statuses and traffic are found by evaluating the objects twice (core/impact).
 */
export function judgeChange(
  objects: readonly StoredObject[],
  facts: ClusterFacts,
  target: Target,
): readonly PreflightFinding[] {
  const bundles = new Map(
    facts.definitions.flatMap(({ kind, bundle }): readonly [SchemaKind, Bundle][] =>
      kind === undefined ? [] : [[kind, bundle]],
    ),
  );
  const judged = judgeObjects(objects, target, ({ kind }) => bundles.get(kind));
  return [
    ...judgeObservation(facts),
    ...judgeKubernetes(facts, target),
    ...judgePolicies(facts, target),
    ...judgeOwners(facts),
    ...judgeStoredVersions(facts, target, populationsOf(objects, judged)),
    ...judged,
    ...judgeKinds(objects, target),
    ...judgeClients(objects, target),
    ...judgeControllers(objects, target, (kind) => bundles.get(kind)),
  ];
}

function populationsOf(
  objects: readonly StoredObject[],
  judged: readonly PreflightFinding[],
): ReadonlyMap<SchemaKind, KindPopulation> {
  const rejected = new Set(
    judged
      .filter(({ check, field = '' }) => check === 'rejected-objects' && !field.startsWith('status'))
      .map(({ subject }) => subject),
  );
  return new Map(
    [...Map.groupBy(objects, ({ kind }) => kind)].map(([kind, some]) => [
      kind,
      {
        count: some.length,
        rejected: some.filter(({ ref }) => rejected.has(describeRef(ref))).map(({ ref }) => qualifiedName(ref)),
      },
    ]),
  );
}
