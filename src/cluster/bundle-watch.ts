import type { InstalledKind } from '../kubernetes/index.ts';
import type { Cell, Family, Logger, Metrics } from '../telemetry/index.ts';
import { bundleVersionOf, type Annotated } from './installed-bundle.ts';
import { incompleteBundle, isDowngrade } from './main-bundle.ts';

/**
 * Reports problems of the installed CRDs as a whole: a metric shows the CRDs that the bundle lacks, and an older CRD that replaces a
 * newer one is logged and counted. Bundles before v1.5 have no policy that prevents this.
 */
export class BundleWatch {
  private readonly log: Logger;
  private readonly isSynced: () => boolean;
  private readonly downgrades: Family<Cell>;
  /** Definitions of an earlier run that this run has not seen yet. */
  private readonly recorded: Map<string, Annotated>;
  /** By name of the CustomResourceDefinition. */
  private byName: ReadonlyMap<string, InstalledKind> = new Map();

  /**
   * `isSynced`: whether all definitions have been read, and `update` has returned for each. They are read one by one, so some seem to be
   * missing before.
   * `recorded`: the definitions that an earlier run of the controller has recorded, by name.
   */
  constructor({
    log,
    metrics,
    recorded = new Map(),
    isSynced,
  }: {
    readonly log: Logger;
    readonly metrics: Metrics;
    readonly recorded?: ReadonlyMap<string, Annotated>;
    readonly isSynced: () => boolean;
  }) {
    this.log = log;
    this.isSynced = isSynced;
    this.recorded = new Map(recorded);
    this.downgrades = metrics.counter({
      name: 'crd_downgrades_total',
      help: 'Replacements of a CRD by one of an older bundle, or of the standard channel.',
      labels: ['crd'],
    });
    metrics.observed(
      {
        name: 'crd_missing_info',
        help: 'CRD of the installed bundle that is not found; always 1.',
        labels: ['crd'],
      },
      () => (this.isSynced() ? this.missing() : []).map((crd) => ({ labels: [crd], value: 1 })),
    );
  }

  private missing(): readonly string[] {
    return incompleteBundle([...this.byName.values()])?.absent ?? [];
  }

  /** The installed definitions of the Gateway API, by name. */
  get installed(): ReadonlyMap<string, Annotated> {
    return this.byName;
  }

  /** Takes all installed definitions of the Gateway API, by name. */
  update(installed: ReadonlyMap<string, InstalledKind>): void {
    // Definitions that were not found at the start were deleted with their objects, so nothing is lost when they are installed again.
    if (this.isSynced()) this.recorded.clear();
    const former = this.byName;
    this.byName = installed;
    for (const [name, definition] of installed) {
      const before = former.get(name) ?? this.recorded.get(name);
      this.recorded.delete(name);
      if (before === undefined || !isDowngrade(before, definition)) continue;
      this.downgrades.at(name).value += 1;
      this.log.warn(
        { crd: name, before: bundleVersionOf(before), now: bundleVersionOf(definition) },
        'an older CRD replaced a newer one: the next write of each object drops the fields that only the newer one has',
      );
    }
  }
}
