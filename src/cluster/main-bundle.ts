import type { IncompleteBundle } from '../core/graph/inputs.ts';
import { gatewayKinds, listedVersions, nameOfTarget, resourceOf, type Target } from '../core/preflight/target.ts';
import { gatewayGroup, isSameBundle, minors, tables } from '../core/schema/index.ts';
import type { InstalledKind } from '../kubernetes/index.ts';
import { annotatedBundle, bundleVersionOf, type Annotated } from './installed-bundle.ts';

/** The plurals of the kinds that every bundle contains and that Sallyport requires. */
export const needed = [tables.GatewayClass, tables.Gateway, tables.HTTPRoute, tables.ReferenceGrant].map(
  ({ plural }) => plural,
);

/** Returns the kinds of the group of the Gateway API, without those of the experimental group `x-k8s.io`. */
export function ofGateway(kinds: readonly InstalledKind[]): readonly InstalledKind[] {
  return kinds.filter((kind) => kind.group === gatewayGroup);
}

/** Returns the bundle of the kinds that every bundle contains; `undefined` if they name no release, or several. */
export function mainBundle(kinds: readonly InstalledKind[]): Target | undefined {
  const [first, ...others] = ofGateway(kinds).filter(({ plural }) => needed.includes(plural));
  const bundle = first && annotatedBundle(first);
  if (first === undefined || bundle === undefined) return undefined;
  const isSame = (other: InstalledKind): boolean => {
    const annotated = annotatedBundle(other);
    return (
      annotated !== undefined && isSameBundle(annotated, bundle) && bundleVersionOf(other) === bundleVersionOf(first)
    );
  };
  return others.every(isSame) ? { bundle, version: bundleVersionOf(first) } : undefined;
}

/** Returns the CRDs that the installed bundle contains and that are absent; `undefined` if it is complete, or unknown. */
export function incompleteBundle(kinds: readonly InstalledKind[]): IncompleteBundle | undefined {
  const main = mainBundle(kinds);
  if (main === undefined) return undefined;
  const found = new Set(kinds.map(({ name }) => name));
  const absent = gatewayKinds
    .filter((kind) => listedVersions(kind, main.bundle).length > 0)
    .map(resourceOf)
    .filter((name) => !found.has(name))
    .map((name) => name.replace(`.${gatewayGroup}`, ''));
  return absent.length === 0 ? undefined : { bundle: nameOfTarget(main), absent };
}

/** Whether the annotations of a CRD name an older bundle than before, or the standard channel instead of the experimental one. */
export function isDowngrade(before: Annotated, after: Annotated): boolean {
  const [former, current] = [annotatedBundle(before), annotatedBundle(after)];
  if (former === undefined || current === undefined) return false;
  const [was, is] = [minors.indexOf(former.minor), minors.indexOf(current.minor)];
  return is < was || (is === was && former.channel === 'experimental' && current.channel === 'standard');
}
