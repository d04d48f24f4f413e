import type { ConfigurationSource } from '../channel/source.ts';
import { deepEqual } from '../core/incremental/index.ts';
import type { Steps } from '../core/text/steps.ts';
import type { AcknowledgementReport } from './acknowledgement-report.ts';
import { traceKeyOf, traceResourceKey } from '../channel/trace.ts';
import { ConfigurationByGateway, type ConfigurationChange, type GatewayChange } from './configuration-by-gateway.ts';
import type { Reachability } from './data-plane-services.ts';
import { GatewayDataPlanes, type DataPlanesOptions, type DataPlaneState } from './gateway-data-planes.ts';

export interface Tally {
  readonly gateways: number;
  /** Pods that are connected to this replica. */
  readonly connected: number;
  /** Pods that are ready for traffic. */
  readonly ready: number;
  /** Ready pods that did not acknowledge the newest generation in time. */
  readonly late: number;
  /** Ready pods that are too old for the configuration. */
  readonly outdated: number;
}

/** The data planes of all Gateways (`namespace/name`). */
export class DataPlanes {
  private readonly gateways = new Map<string, GatewayDataPlanes>();
  private readonly byGateway = new ConfigurationByGateway();
  private readonly options: DataPlanesOptions;
  /** The last report of each other replica. */
  private readonly otherReports = new Map<string, AcknowledgementReport>();
  private traceSecret: string | undefined;

  constructor(options: DataPlanesOptions) {
    this.options = options;
  }

  /** Prepares the publication of resources, in steps. */
  prepare(upserted: ConfigurationChange['upserted']): Steps<void> {
    return this.byGateway.prepare(upserted.values());
  }

  /**
   * Sends a change to the Gateways that it concerns.
   *
   * @param arrived when the event that caused it arrived, by the monotonic clock; undefined: for no event
   */
  publish(change: ConfigurationChange, arrived?: number): void {
    for (const [gateway, part] of this.byGateway.apply(change)) this.open(gateway).publish(part, arrived);
  }

  /** The source of configuration for data planes of a Gateway. `undefined` for Gateways that are not served. */
  sourceOf(gateway: string): ConfigurationSource | undefined {
    return this.gateways.get(gateway)?.source;
  }

  /** Starts to serve a Gateway: its data planes may connect, even if there is no configuration yet. */
  serve(gateway: string): void {
    this.open(gateway);
  }

  /**
   * Gives each data plane the key of its Gateway for traces, derived from a secret text.
   *
   * @param secret `undefined`: data planes ignore traces
   */
  setTraceSecret(secret: string | undefined): void {
    if (secret === this.traceSecret) return;
    this.traceSecret = secret;
    for (const [gateway, dataPlanes] of this.gateways) dataPlanes.publish(traceChange(secret, gateway));
  }

  /** Stops serving a Gateway that was deleted or is no longer ours. */
  forget(gateway: string): void {
    const known = this.gateways.get(gateway);
    this.gateways.delete(gateway);
    known?.retire();
  }

  /** Limits the configuration of a Gateway by the memory of its data planes, after it may have changed. */
  resize(gateway: string): void {
    this.gateways.get(gateway)?.resize();
  }

  /** Updates the addresses and pods of the data planes of a Gateway. */
  setReachability(gateway: string, reach: Reachability): void {
    this.gateways.get(gateway)?.setReachability(reach);
  }

  /** The state of the data planes of a Gateway. */
  stateOf(gateway: string): DataPlaneState {
    return this.gateways.get(gateway)?.state ?? { ready: 0, late: 0, outdated: 0, remark: '' };
  }

  /** The configuration in force on data planes that are connected to this replica. */
  report(): AcknowledgementReport {
    return new Map(
      [...this.gateways].flatMap(([gateway, { connected, report }]) =>
        connected === 0 ? [] : [[gateway, report] as const],
      ),
    );
  }

  /** Takes the report of another replica. `undefined` if the replica is gone. */
  observeReport(replica: string, report: AcknowledgementReport | undefined): void {
    const before = this.otherReports.get(replica);
    if (report === undefined) this.otherReports.delete(replica);
    else this.otherReports.set(replica, report);
    for (const gateway of new Set([...(before?.keys() ?? []), ...(report?.keys() ?? [])])) {
      const part = report?.get(gateway);
      // A report covers all Gateways, even those that have not changed.
      if (!deepEqual(part, before?.get(gateway))) this.gateways.get(gateway)?.observeReport(replica, part);
    }
  }

  /** The number of served Gateways, and the number of their pods by state. */
  tally(): Tally {
    const states = [...this.gateways.values()].map(({ connected, state }) => ({ connected, ...state }));
    const sum = (countOf: (state: (typeof states)[number]) => number): number =>
      states.reduce((total, state) => total + countOf(state), 0);
    return {
      gateways: states.length,
      connected: sum(({ connected }) => connected),
      ready: sum(({ ready }) => ready),
      late: sum(({ late }) => late),
      outdated: sum(({ outdated }) => outdated),
    };
  }

  /** The Gateways that exceed the limits for their configuration, with the number of resources that are not served. */
  withheld(): ReadonlyMap<string, number> {
    return new Map(
      [...this.gateways].flatMap(([gateway, { source }]) =>
        source.withheld.size > 0 ? [[gateway, source.withheld.size]] : [],
      ),
    );
  }

  /** Reconciles everything, at the start of a term as leader. */
  settle(): void {
    for (const gateway of this.gateways.values()) gateway.settle();
  }

  stop(): void {
    for (const gateway of this.gateways.values()) gateway.stop();
  }

  private open(gateway: string): GatewayDataPlanes {
    const known = this.gateways.get(gateway);
    if (known !== undefined) return known;
    const opened = new GatewayDataPlanes(gateway, this.options);
    this.gateways.set(gateway, opened);
    for (const [replica, report] of this.otherReports) opened.observeReport(replica, report.get(gateway));
    if (this.traceSecret !== undefined) opened.publish(traceChange(this.traceSecret, gateway));
    return opened;
  }
}

function traceChange(secret: string | undefined, gateway: string): GatewayChange {
  const key = traceResourceKey;
  return secret === undefined
    ? { upserts: new Map(), removals: new Set([key]) }
    : {
        upserts: new Map([[key, { kind: 'traceKey', key, secret: traceKeyOf(secret, gateway) }]]),
        removals: new Set(),
      };
}
