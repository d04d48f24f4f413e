import { startRounds, type Rounds } from '../../certificates/index.ts';
import { linkedFindings } from '../../core/admission/stored.ts';
import type { Delta } from '../../core/incremental/index.ts';
import type { ObjectEvent } from '../../kubernetes/index.ts';
import type { Cell, Family } from '../../telemetry/index.ts';
import { AuditTerm, type AuditOptions } from './term.ts';

/**
 * The continuous audit: judges all stored objects by the current settings and keeps the reports of the cluster up to date. It works
 * only while this replica is the leader. Without a term, it holds no objects.
 */
export class Auditor {
  private readonly options: AuditOptions;
  private readonly writes: Family<Cell>;
  private term: AuditTerm | undefined;

  constructor(options: AuditOptions) {
    this.options = options;
    const { metrics } = options;
    metrics.observed(
      {
        name: 'audit_findings',
        help: 'Findings about stored objects, by rule, namespace and result; only on the leader.',
        labels: ['rule', 'namespace', 'result'],
      },
      () => this.term?.counts() ?? [],
    );
    metrics.observed(
      { name: 'audit_objects', help: 'Objects that the audit follows, by state.', labels: ['state'] },
      () =>
        this.term === undefined
          ? []
          : [
              { labels: ['stored'], value: this.term.objects.size },
              { labels: ['pending'], value: this.term.objects.pending },
            ],
    );
    this.writes = metrics.counter({
      name: 'audit_report_writes_total',
      help: 'Writes of reports, by result.',
      labels: ['result'],
    });
  }

  /** Audits until `stop`. Can be started again, for another term as leader. */
  start(): Rounds {
    const { log, interval = 5_000 } = this.options;
    const term = new AuditTerm({ ...this.options, interval, writes: this.writes });
    this.term = term;
    const rounds = startRounds(
      async () => {
        const outcome = await term.round();
        return { waiting: interval / 10, unfinished: 0, done: interval }[outcome];
      },
      {
        longest: 60_000,
        retry: interval,
        onError: (err) => {
          if (this.term === term) log.warn({ err }, 'cannot audit stored objects, will retry');
        },
      },
    );
    return {
      wake: rounds.wake,
      stop: async () => {
        this.term = undefined;
        await Promise.all([term.stop(), rounds.stop()]);
      },
    };
  }

  /** Call this after each change of the evaluation. */
  observe(events: readonly ObjectEvent[], delta: Delta): void {
    const objects = this.term?.objects;
    if (objects === undefined) return;
    for (const { ref } of events) if (ref.kind === 'Namespace') objects.reconsiderNamespace(ref.name);
    const { upserted, removed } = delta.of(linkedFindings);
    for (const key of [...upserted.keys(), ...removed]) objects.reconsider(key);
  }

  /** Call this when CRDs were installed, changed or deleted. */
  reconsiderAll(): void {
    this.term?.objects.reconsiderAll();
  }
}
