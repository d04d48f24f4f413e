import type { WantedAddress } from '../core/graph/listeners/addresses.ts';
import type { AddressProblem } from '../core/graph/inputs.ts';
import { deepEqual } from '../core/incremental/index.ts';
import { formatIpAddress, parseIpAddress, type AddressRange, type IpFamily } from '../core/text/ip-address.ts';
import { listOf, recordOf, recordsOf } from '../core/text/record.ts';
import type { Cell, Family, Logger, Metrics } from '../telemetry/index.ts';
import { allocate, byAge, AddressLedger, type Allocation, type Claim } from './address-allocation.ts';
import { gatewayOfService, isClusterService } from './data-plane-objects.ts';
import { poolClass } from './names.ts';
import type { ClusterWriter, ObjectChange, WireObject, WriteResult } from './ports.ts';
import { isNewer } from '../core/text/resource-version.ts';
import { NextTurn } from '../time/next-turn.ts';
import { qualifiedName } from '../core/resources/reference.ts';

export interface AddressPoolOptions {
  /** Empty: no Service gets an address. */
  readonly ranges: readonly AddressRange[];
  readonly writer: Pick<ClusterWriter, 'updateStatus'>;
  readonly requestOf: (gateway: string) => AddressRequest;
  /** Checked before each write. */
  readonly mayWrite: () => boolean;
  /** Called when the address problem of a Gateway has changed. */
  readonly onProblem: (gateway: string) => void;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly pace?: AddressPace;
}

/** The addresses that a Gateway requests. */
export interface AddressRequest {
  /** Its creationTimestamp. */
  readonly since: string;
  /** `unchanged`: the Gateway keeps its addresses. */
  readonly addresses: readonly WantedAddress[] | 'unchanged';
}

/** Milliseconds between two writes to one Service. Controllers that undo each other's writes must not overload the API server. */
export interface AddressPace {
  readonly rest: number;
  readonly retry: number;
}

const defaultPace: AddressPace = { rest: 500, retry: 5_000 };

/** Maximum number of writes in flight. */
const concurrency = 8;
/** Maximum number of Gateways that are processed in one turn of the event loop. Thousands may wait for the same address. */
const perTurn = 200;

interface Sending {
  /** Addresses being assigned and addresses being released. A released address is free only after the write is confirmed. */
  readonly reserved: readonly bigint[];
  readonly done: Promise<void>;
}

/**
 * Assigns addresses of a pool to those Services of data planes that have our load balancer class. The assignment is stored only in
 * the status of each Service (ServiceStatus.loadBalancer), so a new leader continues from there.
 * Gateways are named `namespace/name`.
 */
export class AddressPool {
  private readonly options: AddressPoolOptions;
  /** Gateway → its Service. */
  private readonly services = new Map<string, WireObject>();
  /** `namespace/name` of a Service → its Gateway. */
  private readonly gateways = new Map<string, string>();
  private readonly ledger = new AddressLedger();
  /** Gateways to process now. Those whose Service is or was just being written follow after a rest. */
  private queue = new Set<string>();
  /** Gateways that may get more addresses once others release some. */
  private readonly waiting = new Set<string>();
  private readonly sending = new Map<string, Sending>();
  /** Gateways whose Service was written recently. */
  private readonly resting = new Map<string, NodeJS.Timeout>();
  private readonly problems = new Map<string, AddressProblem>();
  private readonly writes: Family<Cell>;
  private readonly pumpLater = new NextTurn(() => this.pump());
  private isStopped = false;

  constructor(options: AddressPoolOptions) {
    this.options = options;
    this.writes = options.metrics.counter({
      name: 'address_writes_total',
      help: 'Writes of pool addresses to Services, by result.',
      labels: ['result'],
    });
  }

  /** Takes events of the cluster. `mayWrite` is false until all objects are known, so no address is assigned before. */
  observe(events: readonly ObjectChange[]): void {
    for (const event of events) if (event.ref.kind === 'Service') this.observeService(event);
    this.pump();
  }

  /** Call this when the addresses that a Gateway requests may have changed. */
  enqueue(gateway: string): void {
    this.enter(gateway);
    this.pump();
  }

  /** Processes all Gateways at the start of a term as leader. */
  becomeLeader(): void {
    for (const gateway of this.services.keys()) this.enter(gateway);
    this.pump();
  }

  /** Why a Gateway has no address, or not those that it requests. */
  problemOf(gateway: string): AddressProblem | undefined {
    return this.problems.get(gateway);
  }

  /** Stops assigning addresses. Resolves when no write is in flight. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all([...this.sending.values()].map(({ done }) => done));
    for (const timer of this.resting.values()) clearTimeout(timer);
  }

  private observeService(event: ObjectChange): void {
    const key = qualifiedName(event.ref);
    const before = this.gateways.get(key);
    const gateway = event.type === 'upsert' && this.options.ranges.length > 0 ? servedGateway(event.object) : undefined;
    if (before !== undefined && before !== gateway) this.leave(key, before);
    if (event.type === 'delete' || gateway === undefined) return;
    // The response to our own write may be newer than the watch event.
    if (isNewer(versionOf(this.services.get(gateway)), versionOf(event.object))) return;
    this.gateways.set(key, gateway);
    this.services.set(gateway, event.object);
    this.enter(gateway);
  }

  private leave(key: string, gateway: string): void {
    this.gateways.delete(key);
    this.services.delete(gateway);
    this.ledger.delete(gateway);
    this.waiting.delete(gateway);
    this.wake();
    this.setProblem(gateway, undefined);
  }

  /** Records what a Gateway has and requests, and enqueues it. */
  private enter(gateway: string): void {
    const service = this.services.get(gateway);
    if (service === undefined) return;
    const { since, addresses } = this.options.requestOf(gateway);
    const held = this.sending.get(gateway)?.reserved ?? addressesIn(service);
    this.note({ gateway, since, families: familiesOf(service), held, ...demandOf(addresses) });
    this.add(gateway);
  }

  private add(gateway: string): void {
    if (!this.sending.has(gateway) && !this.resting.has(gateway)) this.queue.add(gateway);
  }

  private note(claim: Claim): void {
    const before = this.ledger.get(claim.gateway);
    this.ledger.set(claim);
    if (before !== undefined && !deepEqual([before.held, before.requested], [claim.held, claim.requested])) this.wake();
  }

  /** Addresses may be available again, so enqueue the Gateways that wait. */
  private wake(): void {
    for (const gateway of this.waiting) this.add(gateway);
  }

  /** Processes the oldest Gateways first. */
  private pump(): void {
    if (this.isStopped || !this.options.mayWrite()) {
      // A new leader processes all Gateways.
      this.queue.clear();
      return;
    }
    if (this.sending.size >= concurrency) return;
    const oldestFirst = [...this.queue].flatMap((gateway) => this.ledger.get(gateway) ?? []).sort(byAge);
    // The rest of them is already sorted next time, which takes much less.
    this.queue = new Set(oldestFirst.map(({ gateway }) => gateway));
    for (const [index, { gateway }] of oldestFirst.entries()) {
      if (this.sending.size >= concurrency) return;
      if (index === perTurn) {
        this.pumpLater.request();
        return;
      }
      if (this.queue.delete(gateway)) this.settle(gateway);
    }
  }

  private settle(gateway: string): void {
    const [claim, service] = [this.ledger.get(gateway), this.services.get(gateway)];
    if (claim === undefined || service === undefined) return;
    const allocation = allocate(claim, this.options.ranges, this.ledger);
    if (allocation.waits) this.waiting.add(gateway);
    else this.waiting.delete(gateway);
    if (deepEqual(allocation.addresses, claim.held)) {
      this.setProblem(gateway, allocation.problem);
      return;
    }
    const reserved = [...new Set([...allocation.addresses, ...claim.held])];
    this.sending.set(gateway, { reserved, done: this.send(claim, service, allocation) });
    this.note({ ...claim, held: reserved });
  }

  private async send({ gateway }: Claim, service: WireObject, { addresses, problem }: Allocation): Promise<void> {
    const result = await this.options.writer.updateStatus('Service', withAddresses(service, addresses));
    this.sending.delete(gateway);
    this.writes.at(result.type).value += 1;
    this.rest(gateway, result);
    if (result.type === 'ok') {
      this.keep(gateway, result.object);
      this.setProblem(gateway, problem);
    } else this.recordFailure(gateway, service, result);
    this.enter(gateway);
    this.pump();
  }

  /** Stores the response without waiting for the watch. Otherwise the next write would use an outdated object. */
  private keep(gateway: string, service: WireObject | undefined): void {
    const known = this.services.get(gateway);
    if (known !== undefined && service !== undefined && isNewer(versionOf(service), versionOf(known)))
      this.services.set(gateway, service);
  }

  private recordFailure(
    gateway: string,
    { metadata: { namespace = '', name } }: WireObject,
    { type, message }: Exclude<WriteResult, { readonly type: 'ok' }>,
  ): void {
    // Another writer was faster. Its version will arrive through the watch.
    if (type === 'conflict' || type === 'notFound') return;
    // The end of the term called off the write.
    if (!this.options.mayWrite()) return;
    this.options.log.warn({ gateway, outcome: type, problem: message }, 'cannot assign an address to a Service');
    if (type === 'forbidden' || type === 'invalid')
      this.setProblem(gateway, {
        reason: 'AddressNotAssigned',
        message: `Cannot assign an address of the pool to Service "${namespace}/${name}": ${message}`,
      });
  }

  private rest(gateway: string, { type }: WriteResult): void {
    const { rest, retry } = this.options.pace ?? defaultPace;
    this.resting.set(
      gateway,
      setTimeout(
        () => {
          this.resting.delete(gateway);
          this.add(gateway);
          this.pump();
        },
        type === 'ok' || type === 'conflict' ? rest : retry,
      ),
    );
  }

  private setProblem(gateway: string, problem: AddressProblem | undefined): void {
    if (deepEqual(this.problems.get(gateway), problem)) return;
    if (problem === undefined) this.problems.delete(gateway);
    else this.problems.set(gateway, problem);
    this.options.onProblem(gateway);
  }
}

/** The Gateway whose data planes a Service selects, if the Service gets addresses of the pool. */
function servedGateway(service: WireObject): string | undefined {
  const { type, loadBalancerClass } = recordOf(service['spec']);
  if (type !== 'LoadBalancer' || loadBalancerClass !== poolClass) return undefined;
  const gateway = gatewayOfService(service);
  return gateway !== undefined && isClusterService(service, gateway) ? undefined : gateway;
}

function demandOf(addresses: AddressRequest['addresses']): Pick<Claim, 'requested' | 'content'> {
  if (addresses === 'unchanged') return { requested: [], content: 'held' };
  const values = addresses.flatMap(({ type, value }) => (type === 'IPAddress' && value !== '' ? [value] : []));
  const requested = new Set(values.flatMap((value) => parseIpAddress(value) ?? []));
  return {
    requested: [...requested],
    content: values.length > 0 && values.length === addresses.length ? 'requested' : 'any',
  };
}

/** The API server sets the families. Without them, assume IPv4. */
function familiesOf(service: WireObject): readonly IpFamily[] {
  const families = listOf(recordOf(service['spec'])['ipFamilies']).filter(
    (family): family is IpFamily => family === 'IPv4' || family === 'IPv6',
  );
  return families.length > 0 ? families : ['IPv4'];
}

function addressesIn(service: WireObject): readonly bigint[] {
  const { ingress } = recordOf(recordOf(service['status'])['loadBalancer']);
  return recordsOf(ingress).flatMap(({ ip }) => (typeof ip === 'string' ? (parseIpAddress(ip) ?? []) : []));
}

function withAddresses(service: WireObject, addresses: readonly bigint[]): WireObject {
  return {
    ...service,
    status: {
      ...recordOf(service['status']),
      loadBalancer: { ingress: addresses.map((address) => ({ ip: formatIpAddress(address) })) },
    },
  };
}

function versionOf(object: WireObject | undefined): string {
  return object?.metadata.resourceVersion ?? '';
}
