import { defineIndex, defineQuery } from '../incremental/index.ts';
import { objectsOf, readObject } from './inputs.ts';
import { strata } from './strata.ts';

/** ReferenceGrants of a namespace. Bucket: namespace; entry: name. */
export const grantsOfNamespace = defineIndex({
  name: 'grantsOfNamespace',
  stratum: strata.objectIndexes,
  over: objectsOf('ReferenceGrant'),
  entries: (_read, _kind = '', namespace = '', name = '') => [{ bucket: namespace, entry: name }],
});

/** Who refers, and to what; groups as in ReferenceGrant, `''` for the core group. */
type Reference = readonly [
  fromGroup: string, fromKind: string, fromNamespace: string,
  toGroup: string, toKind: string, toNamespace: string, toName: string,
];

/**
 * Whether an object of `fromKind` in `fromNamespace` may refer to the target: always within one namespace, otherwise
 * by a ReferenceGrant beside the target. Stands between references and grants, so that a change of an unrelated
 * grant wakes no reference.
 */
export const granted = defineQuery({
  name: 'granted',
  stratum: strata.links,
  compute(read, ...[fromGroup, fromKind, fromNamespace, toGroup, toKind, toNamespace, toName]: Reference): boolean {
    if (fromNamespace === toNamespace) return true;
    return read.list(grantsOfNamespace, toNamespace).some((name) => {
      const grant = readObject(read, 'ReferenceGrant', toNamespace, name);
      // A name that could not be read must not widen the grant to all names.
      if (grant === undefined || grant.unreadable.length > 0) return false;
      const fromAllowed = grant.spec?.from?.some((from) => from.group === fromGroup && from.kind === fromKind && from.namespace === fromNamespace);
      const toAllowed = grant.spec?.to?.some((to) => to.group === toGroup && to.kind === toKind && (to.name === undefined || to.name === toName));
      return fromAllowed === true && toAllowed === true;
    });
  },
});
