import { classFeaturesCell } from '../../graph/inputs.ts';
import { ownership, type Ownership } from '../../graph/ownership.ts';
import { servedRouteKinds } from '../../graph/protocols.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Path } from '../../resources/path.ts';
import { display, quote } from '../../text/display.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { featureUses, type FeatureUse } from './feature-uses.ts';

/** For the features of other controllers' classes. The rule for features that Sallyport does not support is unsupported-feature. */
export const unlistedFeature = rule({
  id: 'unlisted-feature',
  kinds: servedRouteKinds,
  summary: 'The route uses a feature that the GatewayClass of another controller does not list in its status.',
  effect: warned,
  source: 'GEP-2162, GatewayClassStatus.supportedFeatures; Gateway API v1.7.0, pkg/features',
  check(route, read, report) {
    const classes = listingClasses(read, read.query(ownership, route.kind, route.ref.namespace, route.ref.name));
    if (classes.length === 0) return;
    for (const use of featureUses(route, read)) {
      for (const listing of classes) if (isUnlisted(use, listing)) report(describe(use, listing));
    }
  },
});

/** A class that lists its features. */
interface Listing {
  readonly className: string;
  readonly controllerName: string;
  readonly features: ReadonlySet<string>;
}

/** Returns the classes of other controllers that an object attaches to, if they list any feature. */
function listingClasses(read: Reader, { parents }: Ownership): readonly Listing[] {
  const classes = new Map<string, Listing>();
  for (const { owner } of parents) {
    if (owner.type !== 'other' || owner.className === undefined || classes.has(owner.className)) continue;
    const features = read.input(classFeaturesCell, owner.className) ?? [];
    if (features.length > 0)
      classes.set(owner.className, {
        className: owner.className,
        controllerName: owner.controllerName ?? '',
        features: new Set(features),
      });
  }
  return [...classes.values()];
}

function isUnlisted({ names }: FeatureUse, { features }: Listing): boolean {
  return !names.some((name) => features.has(name));
}

function describe(
  { names: [feature = ''], path }: FeatureUse,
  { className, controllerName }: Listing,
): { readonly path: Path; readonly value: string; readonly message: string } {
  return {
    path,
    value: feature,
    message: `GatewayClass ${quote(className)} of the controller ${display(controllerName)} does not list the feature ${feature} in status.supportedFeatures, so it may ignore or reject this. Remove it, or attach the route to a Gateway of a class that lists ${feature}.`,
  };
}
