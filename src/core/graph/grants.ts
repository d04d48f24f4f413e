import { defineIndex, defineQuery, lowerBound } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { objectsOf, readObject } from './inputs.ts';
import { strata } from './strata.ts';

/** ReferenceGrant.spec allows this number of entries in `from` and in `to`. If more are stored, the others grant nothing. */
const maxItems = 16;

/**
 * Granted references to other namespaces. Bucket: a target as JSON, without its name if all names are granted; entry: a referrer as JSON.
 * A bucket for each pair would take several times as much memory: an object of 2 KB has 256 pairs.
 */
export const permissions = defineIndex({
  name: 'permissions',
  stratum: strata.objectIndexes,
  over: objectsOf('ReferenceGrant'),
  *entries(read, _kind = '', namespace = '', name = '') {
    const grant = readObject(read, 'ReferenceGrant', namespace, name);
    // An unreadable name must not extend the grant to all names.
    if (grant === undefined || grant.unreadable.length > 0) return;
    const { from = [], to = [] } = grant.spec ?? {};
    // Missing values become null, which no reference contains.
    const referrers = from.slice(0, maxItems).map((one) => JSON.stringify([one.group, one.kind, one.namespace]));
    const targets = to
      .slice(0, maxItems)
      .map((one) => JSON.stringify([one.group, one.kind, namespace, ...(one.name === undefined ? [] : [one.name])]));
    for (const bucket of targets) {
      for (const entry of referrers) yield { bucket, entry };
    }
  },
});

/** A referrer and its target. Groups are as in ReferenceGrant, `''` for the core group. */
type Reference = readonly [
  fromGroup: string,
  fromKind: string,
  fromNamespace: string,
  toGroup: string,
  toKind: string,
  toNamespace: string,
  toName: string,
];

/**
 * Returns whether an object of `fromKind` in `fromNamespace` may refer to the target: always within one namespace, otherwise if
 * the target's namespace has a ReferenceGrant for it.
 */
export function mayRefer(read: Reader, reference: Reference): boolean {
  const [, , fromNamespace, , , toNamespace] = reference;
  return fromNamespace === toNamespace || read.query(granted, ...reference);
}

/** The query separates references from grants, so that a further grant for the same reference does not re-evaluate it. */
const granted = defineQuery({
  name: 'granted',
  stratum: strata.links,
  compute(read, ...reference: Reference): boolean {
    const referrer = JSON.stringify(reference.slice(0, 3));
    const target = reference.slice(3);
    return [target.slice(0, -1), target].some((bucket) => {
      // Searched in halves: a namespace may have thousands of grants.
      const referrers = read.list(permissions, JSON.stringify(bucket));
      return referrers[lowerBound(referrers, referrer)] === referrer;
    });
  },
});
