import { isDeepStrictEqual } from 'node:util';
import type { ConfigurationSource } from '../channel/source.ts';
import type { AcknowledgementReport } from './acknowledgement-report.ts';
import { ConfigurationByGateway, type ConfigurationChange } from './configuration-by-gateway.ts';
import type { Reachability } from './data-plane-services.ts';
import { GatewayDataPlanes, type DataPlanesOptions, type DataPlaneState } from './gateway-data-planes.ts';

export interface Tally {
  readonly gateways: number;
  /** Pods that are connected to this replica. */
  readonly connected: number;
  /** Pods that get traffic. */
  readonly ready: number;
  /** Those of them that have not acknowledged the newest generation in time. */
  readonly late: number;
}

/** The data planes of all Gateways (`namespace/name`). */
export class DataPlanes {
  readonly #gateways = new Map<string, GatewayDataPlanes>();
  readonly #byGateway = new ConfigurationByGateway();
  readonly #options: DataPlanesOptions;
  /** What other replicas reported last. */
  readonly #otherReports = new Map<string, AcknowledgementReport>();

  constructor(options: DataPlanesOptions) {
    this.#options = options;
  }

  /** Sends what changed to those whom it concerns. */
  publish(change: ConfigurationChange): void {
    for (const [gateway, part] of this.#byGateway.apply(change)) this.#open(gateway).publish(part);
  }

  /** Where data planes of a Gateway get their configuration; nothing for Gateways that are not served. */
  sourceOf(gateway: string): ConfigurationSource | undefined {
    return this.#gateways.get(gateway)?.source;
  }

  /** The Gateway is served: from now on its data planes may connect, whether or not there is anything to serve. */
  serve(gateway: string): void {
    this.#open(gateway);
  }

  /** The Gateway is gone or somebody else's. */
  forget(gateway: string): void {
    const known = this.#gateways.get(gateway);
    this.#gateways.delete(gateway);
    known?.retire();
  }

  /** How the data planes of a Gateway can be reached now. */
  setReachability(gateway: string, reach: Reachability): void {
    this.#gateways.get(gateway)?.setReachability(reach);
  }

  /** How it stands with the data planes of a Gateway. */
  stateOf(gateway: string): DataPlaneState {
    return this.#gateways.get(gateway)?.state ?? { ready: 0, late: 0, remark: '' };
  }

  /** What the data planes that are connected here have in force. */
  report(): AcknowledgementReport {
    return new Map([...this.#gateways].flatMap(([gateway, { report }]) => (report.size === 0 ? [] : [[gateway, report] as const])));
  }

  /** What those have that are connected to another replica; nothing where that is gone. */
  observeReport(replica: string, report: AcknowledgementReport | undefined): void {
    const before = this.#otherReports.get(replica);
    if (report === undefined) this.#otherReports.delete(replica);
    else this.#otherReports.set(replica, report);
    for (const gateway of new Set([...(before?.keys() ?? []), ...(report?.keys() ?? [])])) {
      const part = report?.get(gateway);
      // A report tells of all Gateways, whichever has changed.
      if (!isDeepStrictEqual(part, before?.get(gateway))) this.#gateways.get(gateway)?.observeReport(replica, part);
    }
  }

  /** How many Gateways are served, and how many pods of theirs there are by state. */
  tally(): Tally {
    const states = [...this.#gateways.values()].map(({ report, state }) => ({ connected: report.size, ...state }));
    const sum = (countOf: (state: (typeof states)[number]) => number): number => states.reduce((total, state) => total + countOf(state), 0);
    return { gateways: states.length, connected: sum(({ connected }) => connected), ready: sum(({ ready }) => ready), late: sum(({ late }) => late) };
  }

  /** Looks at everything anew, at the begin of a term as leader. */
  settle(): void {
    for (const gateway of this.#gateways.values()) gateway.settle();
  }

  stop(): void {
    for (const gateway of this.#gateways.values()) gateway.stop();
  }

  #open(gateway: string): GatewayDataPlanes {
    const known = this.#gateways.get(gateway);
    if (known !== undefined) return known;
    const opened = new GatewayDataPlanes(gateway, this.#options);
    this.#gateways.set(gateway, opened);
    for (const [replica, report] of this.#otherReports) opened.observeReport(replica, report.get(gateway));
    return opened;
  }
}
