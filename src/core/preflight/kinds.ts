import { resolveAll, schemaTables, type KindTable, type SchemaKind } from '../schema/index.ts';
import { qualifiedName } from '../resources/reference.ts';
import { someOf } from '../text/display.ts';
import { counted, type PreflightFinding } from './finding.ts';
import { listedVersions, nameOfTarget, resourceOf, type StoredObject, type Target } from './target.ts';

/**
 * Reports objects of kinds that the target does not have. Installing a bundle does not delete CRDs, so the objects remain, and
 * nobody maintains their schema.
 */
export function judgeKinds(objects: readonly StoredObject[], target: Target): readonly PreflightFinding[] {
  const byKind = Map.groupBy(
    objects.filter(({ kind }) => listedVersions(kind, target.bundle).length === 0),
    ({ kind }) => kind,
  );
  return [...byKind].map(([kind, some]): PreflightFinding => ({
    check: 'removed-kinds',
    severity: 'warning',
    subject: resourceOf(kind),
    message: `${nameOfTarget(target)} does not have ${kind}. ${counted(some.length, 'object')} ${some.length === 1 ? 'remains' : 'remain'} (${someOf(some.map(({ ref }) => qualifiedName(ref)))}), and the CRD stays as it is. Controllers that follow the target stop reading ${kind}.${successorOf(kind, target)}`,
    commands: [`kubectl get ${resourceOf(kind)} --all-namespaces`],
  }));
}

function successorOf(kind: SchemaKind, { bundle }: Target): string {
  const { instead }: KindTable = schemaTables[kind];
  const [successor] = instead === undefined ? [] : resolveAll([instead], bundle);
  return successor === undefined ? '' : ` Use ${successor}.`;
}
