import { setTimeout as delay } from 'node:timers/promises';
import { recordOf } from '../core/text/record.ts';
import type { Cell, Family, Logger, Metrics } from '../telemetry/index.ts';
import { decodeReport, encodeReport, type AcknowledgementReport } from './acknowledgement-report.ts';
import type { ClusterWriter, ObjectChange, WireObject } from './ports.ts';

/** One replica of the controller. */
export interface Replica {
  readonly namespace: string;
  /** The pod's name, unique among the replicas. */
  readonly name: string;
  /** The pod's uid. If set, the garbage collector deletes the replica's report together with the pod. */
  readonly uid?: string;
}

export interface AcknowledgementReporterOptions {
  readonly replica: Replica;
  readonly report: () => AcknowledgementReport;
  readonly writer: Pick<ClusterWriter, 'apply'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Milliseconds until a retry after a failure. */
  readonly retry?: number;
  /** Milliseconds from the end of a write until the next one may begin. */
  readonly rest?: number;
}

/** Data planes may change their acknowledgements all the time, and each write is an event for all replicas. */
const defaultRest = 200;

/** Label of the ConfigMaps in which replicas share the acknowledgements of data planes. Its value is the name of the replica. */
export const reportLabel = 'sallyport.dev/acknowledged-to';

const field = 'report';

/** Reads the report from such a ConfigMap. */
export function readReport(object: WireObject): AcknowledgementReport {
  return decodeReport(textOf(object));
}

function textOf({ data }: WireObject): string {
  const text = recordOf(data)[field];
  return typeof text === 'string' ? text : '';
}

/** The name of the ConfigMap of a replica. */
export function reportName(replica: Replica): string {
  return `${replica.name}-acknowledged`;
}

/** Keeps a ConfigMap up to date with the configuration in force on this replica's data planes, for the leader to read. */
export class AcknowledgementReporter {
  private readonly options: AcknowledgementReporterOptions;
  private readonly writes: Family<Cell>;
  private isPending = false;
  private isStopped = false;
  private work: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly stopped = new AbortController();

  constructor(options: AcknowledgementReporterOptions) {
    this.options = options;
    this.writes = options.metrics.counter({
      name: 'acknowledgement_reports_total',
      help: 'Reports of data plane acknowledgements to other replicas, by result.',
      labels: ['result'],
    });
  }

  /** Schedules a write of the report. */
  enqueue(): void {
    // Data planes still disconnect during shutdown. A timer that starts then would never be stopped.
    if (this.isStopped) return;
    this.isPending = true;
    this.work ??= this.run();
  }

  /** Takes an event about the ConfigMap. One that was deleted or changed by someone else, or that an earlier run has left, is written again. */
  observe(event: ObjectChange): void {
    const isCurrent = event.type === 'upsert' && textOf(event.object) === encodeReport(this.options.report());
    if (!isCurrent) this.enqueue();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.isPending = false;
    this.stopped.abort();
    await this.work;
    clearTimeout(this.timer);
  }

  /** Runs one write at a time. Changes in the meantime go into the next write. */
  private async run(): Promise<void> {
    while (this.isPending) {
      this.isPending = false;
      await this.send();
      await this.pause();
    }
    this.work = undefined;
  }

  private async pause(): Promise<void> {
    try {
      await delay(this.options.rest ?? defaultRest, undefined, { signal: this.stopped.signal });
    } catch {
      // Stopped.
    }
  }

  private async send(): Promise<void> {
    const { writer, replica, report, log, retry = 2_000 } = this.options;
    const result = await writer.apply(reportObject(replica, report()));
    this.writes.at(result.type).value += 1;
    if (result.type === 'ok') return;
    log.warn(
      { outcome: result.type, problem: result.message },
      'cannot publish the acknowledgements of data planes to other replicas',
    );
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.enqueue(), retry);
  }
}

function reportObject(replica: Replica, report: AcknowledgementReport): WireObject {
  const { namespace, name, uid } = replica;
  const owner = uid === undefined ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }] };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      namespace,
      name: reportName(replica),
      labels: { 'app.kubernetes.io/managed-by': 'sallyport', [reportLabel]: name },
      ...owner,
    },
    data: { [field]: encodeReport(report) },
  };
}
