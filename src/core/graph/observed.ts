import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import type { KindName } from '../resources/resource.ts';
import { installationCell } from './inputs.ts';
import { strata } from './strata.ts';

/** Whether objects of a kind are followed here, so that not seeing one means that there is none. */
export const isObserved = defineQuery({
  name: 'isObserved',
  stratum: strata.links,
  compute: (read, kind: KindName): boolean => read.input(installationCell)?.unobserved.includes(kind) !== true,
});

/** Whether nothing can be said of an object: it was not seen, and objects of `kind`, which would tell more, are not followed here. */
export function isUnknown(read: Reader, kind: KindName, seen: () => unknown): boolean {
  return !read.query(isObserved, kind) && seen() === undefined;
}
