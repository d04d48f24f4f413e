import { defineIndex, defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { objectsOf, readObject } from './inputs.ts';
import { strata } from './strata.ts';

/** ReferenceGrant.spec has room for so many kinds to refer from, and to; more than that, where it is stored, grants nothing. */
const mostItems = 16;

/**
 * Who may refer to what in another namespace. Bucket: a reference as JSON, without its last part where all names are granted; entry:
 * the name of the ReferenceGrant that says so.
 */
export const permissions = defineIndex({
  name: 'permissions',
  stratum: strata.objectIndexes,
  over: objectsOf('ReferenceGrant'),
  *entries(read, _kind = '', namespace = '', name = '') {
    const grant = readObject(read, 'ReferenceGrant', namespace, name);
    // A name that could not be read must not widen the grant to all names.
    if (grant === undefined || grant.unreadable.length > 0) return;
    const { from = [], to = [] } = grant.spec ?? {};
    // What is missing becomes null, which nobody asks for.
    const referrers = from.slice(0, mostItems).map((one) => [one.group, one.kind, one.namespace]);
    const targets = to.slice(0, mostItems).map((one) => [one.group, one.kind, namespace, ...(one.name === undefined ? [] : [one.name])]);
    for (const referrer of referrers) {
      for (const target of targets) yield { bucket: JSON.stringify([...referrer, ...target]), entry: name };
    }
  },
});

/** Who refers, and to what; groups as in ReferenceGrant, `''` for the core group. */
type Reference = readonly [
  fromGroup: string, fromKind: string, fromNamespace: string,
  toGroup: string, toKind: string, toNamespace: string, toName: string,
];

/**
 * Whether an object of `fromKind` in `fromNamespace` may refer to the target: always within one namespace, otherwise
 * by a ReferenceGrant beside the target.
 */
export function mayRefer(read: Reader, reference: Reference): boolean {
  const [, , fromNamespace, , , toNamespace] = reference;
  return fromNamespace === toNamespace || read.query(granted, ...reference);
}

/** Stands between references and grants, so that one grant more for the same wakes no reference. */
const granted = defineQuery({
  name: 'granted',
  stratum: strata.links,
  compute: (read, ...reference: Reference): boolean =>
    [reference.slice(0, -1), reference].some((bucket) => read.first(permissions, JSON.stringify(bucket)) !== undefined),
});
