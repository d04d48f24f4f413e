import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import type { KindName } from '../resources/resource.ts';
import { deletedCell, installationCell } from './inputs.ts';
import { strata } from './strata.ts';

/** Whether objects of a kind are watched here, so that an object that is not found does not exist. */
export const isObserved = defineQuery({
  name: 'isObserved',
  stratum: strata.links,
  compute: (read, kind: KindName): boolean => read.input(installationCell)?.unobserved.includes(kind) !== true,
});

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
  return read.query(isObserved, kind) || read.input(deletedCell, kind, namespace, name) === true;
}

/** Returns whether it is unknown if an object exists: `seen` finds nothing, and objects of `kind` are not watched here. */
export function isUnknown(read: Reader, kind: KindName, seen: () => unknown): boolean {
  return !read.query(isObserved, kind) && seen() === undefined;
}

/** Why an object that was not found is missing; `unobserved`: it is unknown here whether it exists. */
export type NotFound = 'absent' | 'unobserved' | 'notInstalled';

/** Returns why an object of the kind was not found. */
export function whyNotFound(read: Reader, kind: KindName): NotFound {
  if (!read.query(isInstalled, kind)) return 'notInstalled';
  return read.query(isObserved, kind) ? 'absent' : 'unobserved';
}
