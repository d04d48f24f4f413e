import { defineIndex, defineQuery, lowerBound } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { objectsOf, readObject } from './inputs.ts';
import { strata } from './strata.ts';

/** ReferenceGrant.spec allows this number of entries in `from` and in `to`. If more are stored, the others grant nothing. */
const maxItems = 16;

/** An entry beside the referrers, of a bucket without a name: other buckets grant references to some names. */
const toSomeNames = 'names';

/**
 * Granted references to other namespaces. Bucket: a target as JSON, without its name if all names are granted; entry: a referrer as JSON,
 * or `toSomeNames`. A bucket for each pair would take several times as much memory: an object of 2 KB has 256 pairs.
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
    const targets = to.slice(0, maxItems).map((one) => {
      const kind = [one.group, one.kind, namespace];
      return {
        kind: JSON.stringify(kind),
        bucket: JSON.stringify(one.name === undefined ? kind : [...kind, one.name]),
      };
    });
    for (const { bucket } of targets) {
      for (const entry of referrers) yield { bucket, entry };
    }
    const ofNames = targets.filter(({ kind, bucket }) => bucket !== kind);
    for (const bucket of new Set(ofNames.map(({ kind }) => kind))) yield { bucket, entry: toSomeNames };
  },
});

/** A kind of referrers and a kind of targets in two namespaces. Groups are as in ReferenceGrant, `''` for the core group. */
type Kinds = readonly [
  fromGroup: string,
  fromKind: string,
  fromNamespace: string,
  toGroup: string,
  toKind: string,
  toNamespace: string,
];

/** The kinds of a referrer and its target, and the name of the target. */
type Reference = readonly [...kinds: Kinds, toName: string];

/**
 * Returns whether an object of `fromKind` in `fromNamespace` may refer to the target: always within one namespace, otherwise if
 * the target's namespace has a ReferenceGrant for it.
 */
export function mayRefer(read: Reader, reference: Reference): boolean {
  const [fromGroup, fromKind, fromNamespace, toGroup, toKind, toNamespace] = reference;
  if (fromNamespace === toNamespace) return true;
  const names = read.query(grantedNames, fromGroup, fromKind, fromNamespace, toGroup, toKind, toNamespace);
  return names === 'all' || (names === 'some' && read.query(grantedByName, ...reference));
}

/**
 * The names in a namespace to which references are granted: all, or perhaps some. One result for all references between two namespaces,
 * because an object can have thousands of them. It separates them from grants, so that a further grant does not evaluate them again.
 */
const grantedNames = defineQuery({
  name: 'grantedNames',
  stratum: strata.links,
  compute(read, ...[fromGroup, fromKind, fromNamespace, ...target]: Kinds): 'all' | 'some' | 'none' {
    const entries = read.list(permissions, JSON.stringify(target));
    if (includes(entries, JSON.stringify([fromGroup, fromKind, fromNamespace]))) return 'all';
    return includes(entries, toSomeNames) ? 'some' : 'none';
  },
});

/** Whether a reference to one name is granted. */
const grantedByName = defineQuery({
  name: 'grantedByName',
  stratum: strata.links,
  compute: (read, ...[fromGroup, fromKind, fromNamespace, ...target]: Reference): boolean =>
    includes(read.list(permissions, JSON.stringify(target)), JSON.stringify([fromGroup, fromKind, fromNamespace])),
});

/** Searches sorted entries in halves: a namespace may have thousands of grants. */
function includes(entries: readonly string[], entry: string): boolean {
  return entries[lowerBound(entries, entry)] === entry;
}
