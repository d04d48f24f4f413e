import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import type { KindName } from '../resources/resource.ts';
import { deletedCell, installationCell, type Installation } from './inputs.ts';
import { strata } from './strata.ts';

/** Objects that are not observed, although something depends on them. `namespace` is `''` for cluster-scoped kinds. */
export interface Unobserved {
  readonly kind: KindName;
  readonly namespace: string;
}

/** Whether objects of a kind are watched in a namespace, so that an object that is not found does not exist. */
export function observes(
  { unobserved, observedOnlyIn = {} }: Pick<Installation, 'unobserved' | 'observedOnlyIn'>,
  { kind, namespace }: Unobserved,
): boolean {
  return !unobserved.includes(kind) || observedOnlyIn[kind] === namespace;
}

/** The part of the installation that `observes` needs for a kind. */
const observation = defineQuery({
  name: 'observation',
  stratum: strata.links,
  compute(read, kind: KindName): Pick<Installation, 'unobserved' | 'observedOnlyIn'> {
    const { unobserved = [], observedOnlyIn = {} } = read.input(installationCell) ?? {};
    if (!unobserved.includes(kind)) return { unobserved: [] };
    const namespace = observedOnlyIn[kind];
    return { unobserved: [kind], ...(namespace !== undefined && { observedOnlyIn: { [kind]: namespace } }) };
  },
});

/** Returns whether objects of a kind are watched here in a namespace (`''` for cluster-scoped kinds). */
export function isObserved(read: Reader, kind: KindName, namespace: string): boolean {
  return observes(read.query(observation, kind), { kind, namespace });
}

/** Whether objects of a kind may exist. `false` only if the API server is known not to serve the kind. */
export const isInstalled = defineQuery({
  name: 'isInstalled',
  stratum: strata.links,
  compute: (read, kind: KindName): boolean => read.input(installationCell)?.notInstalled?.includes(kind) !== true,
});

/**
 * Returns whether an object that is not found does not exist: objects of its kind are watched here, or the evaluated change deletes
 * it.
 */
export function isAbsent(read: Reader, kind: KindName, namespace: string, name: string): boolean {
  return isObserved(read, kind, namespace) || read.input(deletedCell, kind, namespace, name) === true;
}

/**
 * Returns whether objects of a kind that belong to another object may exist unseen: its grants, its policies, its endpoints. Files
 * that contain an object of a kind that is not observed contain the objects that belong to it as well.
 *
 * @param kind the kind of the objects that are not found
 * @param owner the object that they belong to
 * @param seen finds that object
 */
export function mayBelongUnobserved(read: Reader, kind: KindName, owner: Unobserved, seen: () => unknown): boolean {
  const { namespace } = owner;
  return !isObserved(read, kind, namespace) && (isObserved(read, owner.kind, namespace) || seen() === undefined);
}

/** Why an object that was not found is missing; `unobserved`: it is unknown here whether it exists. */
export type NotFound = { readonly type: 'absent' | 'notInstalled' } | ({ readonly type: 'unobserved' } & Unobserved);

/** Returns why an object of the kind was not found in a namespace. */
export function whyNotFound(read: Reader, kind: KindName, namespace: string): NotFound {
  if (!read.query(isInstalled, kind)) return { type: 'notInstalled' };
  return isObserved(read, kind, namespace) ? { type: 'absent' } : { type: 'unobserved', kind, namespace };
}
