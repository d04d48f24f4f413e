import type { Cell, Family, Logger, Metrics } from '../telemetry/index.ts';
import { recordOf } from './json.ts';
import type { ClusterWriter, WireObject } from './ports.ts';
import { decodeReport, encodeReport, type Report } from './reports.ts';

/** One replica of the controller. */
export interface Replica {
  readonly namespace: string;
  /** The pod's name, unique among the replicas. */
  readonly name: string;
  /** The pod's uid; with it, what the replica reported goes when the pod goes. */
  readonly uid?: string;
}

export interface ReporterOptions {
  readonly replica: Replica;
  readonly report: () => Report;
  readonly writer: Pick<ClusterWriter, 'apply'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Milliseconds until the next attempt after a failure. */
  readonly retry?: number;
}

/** Label of the ConfigMaps by which replicas tell each other what data planes acknowledged; its value is the replica. */
export const reportLabel = 'sallyport.dev/acknowledged-to';

const field = 'report';

/** What such a ConfigMap reports. */
export function readReport({ data }: WireObject): Report {
  const text = recordOf(data)[field];
  return decodeReport(typeof text === 'string' ? text : '');
}

/** Its name. */
export function reportName(replica: Replica): string {
  return `${replica.name}-acknowledged`;
}

/** Keeps a ConfigMap up to date with what this replica's data planes have in force, for whichever replica leads. */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #writes: Family<Cell>;
  #isMarked = false;
  #isStopped = false;
  #work: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#writes = options.metrics.counter({ name: 'acknowledgement_reports_total', help: 'Reports to other replicas of what data planes acknowledged, by what became of them.', labels: ['result'] });
  }

  /** There is something new. */
  mark(): void {
    // Data planes still go while everything ends; nobody would stop a timer that began then.
    if (this.#isStopped) return;
    this.#isMarked = true;
    this.#work ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#isMarked = false;
    await this.#work;
    clearTimeout(this.#timer);
  }

  /** One write at a time; what comes meanwhile goes into the next one. */
  async #run(): Promise<void> {
    while (this.#isMarked) {
      this.#isMarked = false;
      await this.#send();
    }
    this.#work = undefined;
  }

  async #send(): Promise<void> {
    const { writer, replica, report, log, retry = 2_000 } = this.#options;
    const result = await writer.apply(reportObject(replica, report()));
    this.#writes.at(result.type).value += 1;
    if (result.type === 'ok') return;
    log.warn({ outcome: result.type, problem: result.message }, 'other replicas cannot be told what data planes acknowledged');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.mark(), retry);
  }
}

function reportObject(replica: Replica, report: Report): WireObject {
  const { namespace, name, uid } = replica;
  const owner = uid === undefined ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }] };
  return {
    apiVersion: 'v1', kind: 'ConfigMap',
    metadata: { namespace, name: reportName(replica), labels: { 'app.kubernetes.io/managed-by': 'sallyport', [reportLabel]: name }, ...owner },
    data: { [field]: encodeReport(report) },
  };
}
