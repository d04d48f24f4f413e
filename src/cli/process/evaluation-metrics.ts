import type { Kernel } from '../../core/incremental/index.ts';
import type { Metrics } from '../../telemetry/index.ts';

/** Registers the size and the work of an evaluation as `sallyport_evaluation_*`. They are computed at scrape time. */
export function exposeEvaluation(metrics: Metrics, kernel: Pick<Kernel, 'statistics'>): void {
  metrics.observed(
    { name: 'evaluation_nodes', help: 'Nodes in the dependency graph of the evaluation, by type.', labels: ['type'] },
    () => {
      const { cells, queries, contributors, buckets } = kernel.statistics();
      return Object.entries({ cells, queries, contributors, buckets }).map(([type, value]) => ({
        labels: [type],
        value,
      }));
    },
  );
  metrics.observedCounter(
    { name: 'evaluation_recomputations_total', help: 'Functions of the evaluation that ran.', labels: [] },
    () => [{ labels: [], value: kernel.statistics().recomputations }],
  );
}
