import type { KnownBundle } from '../core/admission/settings.ts';
import { isSameBundle } from '../core/schema/index.ts';
import type { InstalledKind } from '../kubernetes/index.ts';
import type { Logger, Metrics } from '../telemetry/index.ts';
import { bundleOfKind, bundleVersionOf } from './installed-bundle.ts';

interface Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
}

interface KindInForce extends KnownBundle {
  readonly kind: string;
}

/** The bundle that is used for each installed kind. Every change is logged once, and a metric shows the state. */
export class BundlesInForce {
  private readonly log: Logger;
  /** By name of the CustomResourceDefinition. */
  private kinds: ReadonlyMap<string, KindInForce> = new Map();

  constructor({ log, metrics }: Telemetry) {
    this.log = log;
    metrics.observed(
      {
        name: 'crd_bundle_info',
        help: 'Bundle that the objects of an installed kind are validated against; always 1.',
        labels: ['kind', 'bundle', 'channel', 'certain'],
      },
      () =>
        [...this.kinds.values()].map(({ kind, bundle, certain }) => ({
          labels: [kind, bundle.minor, bundle.channel, String(certain)],
          value: 1,
        })),
    );
  }

  /** Takes all installed definitions, by name. */
  update(installed: ReadonlyMap<string, InstalledKind>): void {
    const former = this.kinds;
    this.kinds = new Map(
      [...installed].map(([name, definition]) => [name, { kind: definition.kind, ...bundleOfKind(definition) }]),
    );
    for (const [name, kind] of this.kinds)
      if (!isSame(kind, former.get(name))) this.announce(kind, installed.get(name));
    for (const [name, { kind }] of former)
      if (!this.kinds.has(name)) this.log.info({ kind }, 'kind is no longer installed');
  }

  /** The bundle to judge objects of a resource by, e.g. `httproutes`. A guess if the resource is not known to be installed. */
  bundleOf(group: string, resource: string): KnownBundle {
    return this.kinds.get(`${resource}.${group}`) ?? bundleOfKind(undefined);
  }

  private announce(
    { kind, bundle: { minor, channel }, certain }: KindInForce,
    installed: InstalledKind | undefined,
  ): void {
    const facts = { kind, bundle: minor, channel, annotated: bundleVersionOf(installed) };
    if (certain) this.log.info(facts, 'bundle in force');
    else
      this.log.warn(facts, 'the installed schema matches no known release: violations of this bundle are not denied');
  }
}

function isSame(left: KnownBundle, right: KnownBundle | undefined): boolean {
  return right !== undefined && isSameBundle(left.bundle, right.bundle) && left.certain === right.certain;
}
