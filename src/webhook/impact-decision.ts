import { deletionWrites, objectWrites } from '../cluster/object-writes.ts';
import { isExempt, type Settings } from '../core/admission/settings.ts';
import type { AdmissionRequest, Allowed } from '../core/admission/types.ts';
import type { NamedObject } from '../core/admission/impact.ts';
import { objectCell } from '../core/graph/inputs.ts';
import { warningsAbout, type SurroundingChange } from '../core/impact/warnings.ts';
import { deepEqual, type Kernel } from '../core/incremental/index.ts';
import { tables, type KindName } from '../core/schema/index.ts';
import { recordOf } from '../core/text/record.ts';
import type { Steps } from '../core/text/steps.ts';
import { monotonicNow } from '../time/clock.ts';

export interface ImpactSurroundings {
  readonly kernel: Kernel;
  readonly settings: () => Settings;
}

/** Kinds of Kubernetes itself whose changes can break objects of the Gateway API. */
const surroundingKinds = [
  'Service',
  'Secret',
  'ConfigMap',
  'ClusterTrustBundle',
  'Namespace',
] as const satisfies readonly KindName[];

/**
 * Decides on a change of an object that objects of the Gateway API refer to: always allowed, with warnings about the objects that
 * it breaks. The objects of the request are reduced to input of the evaluation here, so the content of a Secret goes no further.
 */
export function* impactInCluster(request: AdmissionRequest, { kernel, settings }: ImpactSurroundings): Steps<Allowed> {
  const { namespace, userInfo, budgetMs } = request;
  if (isExempt(settings().exemptions, { namespace, ...userInfo })) return allowed([], { exempt: 'true' });
  const change = changeIn(request, kernel);
  if (change === undefined) return allowed([]);
  yield;
  // Half of the time is for the evaluation; the response needs the rest.
  const deadline = monotonicNow() + budgetMs / 2;
  return allowed(yield* warningsAbout(change, { kernel, mayContinue: () => monotonicNow() < deadline }));
}

function allowed(warnings: readonly string[], auditAnnotations: Allowed['auditAnnotations'] = {}): Allowed {
  return { allowed: true, warnings, findings: [], auditAnnotations };
}

/** Returns the change that a request makes; `undefined` if it changes nothing that the evaluation reads. */
function changeIn(
  { operation, group, kind, name, namespace, object, oldObject }: AdmissionRequest,
  kernel: Kernel,
): SurroundingChange | undefined {
  const surrounding = surroundingKinds.find((candidate) => candidate === kind && tables[candidate].group === group);
  if (surrounding === undefined || oldObject === undefined) return undefined;
  const own = metadataOf(oldObject);
  const ref = {
    kind: surrounding,
    // The API server sets the namespace of the request for Namespaces, too.
    namespace: tables[surrounding].namespaced ? namespace : '',
    // A request for a collection has no name.
    name: name === '' && typeof own['name'] === 'string' ? own['name'] : name,
  };
  if (operation === 'DELETE') {
    // The first request for the deletion got the warnings. Now the object only waits for its finalizers.
    if (isDeleting(own)) return undefined;
    const contents = surrounding === 'Namespace' ? contentsOf(kernel, ref.name) : [];
    return {
      operation,
      ref,
      before: objectWrites(ref, oldObject),
      after: [ref, ...contents.slice(0, maxContents)].flatMap((deleted) => deletionWrites(deleted)),
      contents,
    };
  }
  if (operation !== 'UPDATE' || object === undefined || isDeleting(metadataOf(object))) return undefined;
  const [before, after] = [objectWrites(ref, oldObject), objectWrites(ref, object)];
  return deepEqual(valuesOf(before), valuesOf(after)) ? undefined : { operation, ref, before, after, contents: [] };
}

/** The maximum number of objects of a Namespace whose deletion is evaluated. */
const maxContents = 2_000;

/** Kubernetes deletes the objects in a Namespace after the Namespace. Objects of kinds that are not followed are unknown. */
function contentsOf(kernel: Kernel, namespace: string): readonly NamedObject[] {
  return kernel
    .present(objectCell)
    .filter(([, own]) => own === namespace)
    .map(([kind = '', , name = '']) => ({ kind, namespace, name }));
}

function valuesOf(writes: SurroundingChange['before']): readonly unknown[] {
  return writes.map(({ value }) => value);
}

function metadataOf(json: unknown): Readonly<Record<string, unknown>> {
  return recordOf(recordOf(json)['metadata']);
}

function isDeleting(metadata: Readonly<Record<string, unknown>>): boolean {
  return metadata['deletionTimestamp'] !== undefined;
}
