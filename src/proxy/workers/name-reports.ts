import type { ConfigResource } from '../../core/routing/config.ts';
import type { NameReport } from '../upstream/external-names.ts';

/** Reports about the names of external backends. Each worker resolves the names, and reports the same problems. */
export class NameReports {
  private readonly problems = new Map<string, string>();
  private readonly report: (report: NameReport) => void;

  /** `report` gets each change of a problem once. */
  constructor(report: (report: NameReport) => void) {
    this.report = report;
  }

  /** The number of names that have a problem. */
  get size(): number {
    return this.problems.size;
  }

  /** Takes the report of a worker. */
  receive(report: NameReport): void {
    const { hostname, problem } = report;
    if ((this.problems.get(hostname) ?? '') === problem) return;
    if (problem === '') this.problems.delete(hostname);
    else this.problems.set(hostname, problem);
    this.report(report);
  }

  /**
   * Forgets the problems of names that no resource uses any more. Workers do not report these again. Call it when all workers have the
   * change, because they may report a name until then.
   *
   * @param replaced resources that were replaced or removed; `undefined` for new ones
   */
  forgetUnused(replaced: Iterable<ConfigResource | undefined>, held: Iterable<ConfigResource>): void {
    const unused = new Set<string>();
    for (const resource of replaced) {
      const hostname = hostnameOf(resource);
      if (hostname !== undefined && this.problems.has(hostname)) unused.add(hostname);
    }
    // Most changes stop here, and do not look at all resources.
    if (unused.size === 0) return;
    for (const resource of held) {
      const hostname = hostnameOf(resource);
      if (hostname !== undefined) unused.delete(hostname);
    }
    for (const hostname of unused) this.problems.delete(hostname);
  }
}

function hostnameOf(resource: ConfigResource | undefined): string | undefined {
  return resource?.kind === 'endpoints' ? resource.external?.hostname : undefined;
}
