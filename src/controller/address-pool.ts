import { isDeepStrictEqual } from 'node:util';
import type { WantedAddress } from '../core/graph/addresses.ts';
import type { AddressProblem } from '../core/graph/inputs.ts';
import { formatIpAddress, parseIpAddress, type AddressRange, type IpFamily } from '../core/text/ip-address.ts';
import { isRecord, listOf, recordOf } from '../core/text/record.ts';
import type { Cell, Family, Logger, Metrics } from '../telemetry/index.ts';
import { allocate, byAge, AddressLedger, type Allocation, type Claim } from './address-allocation.ts';
import { gatewayOfService } from './data-plane-objects.ts';
import { poolClass } from './names.ts';
import type { ClusterWriter, ObjectChange, WireObject, WriteResult } from './ports.ts';
import { isNewer } from './resource-version.ts';

export interface AddressPoolOptions {
  /** None: no Service is ever given an address. */
  readonly ranges: readonly AddressRange[];
  readonly writer: Pick<ClusterWriter, 'updateStatus'>;
  readonly requestOf: (gateway: string) => AddressRequest;
  /** Asked before everything that is sent. */
  readonly mayWrite: () => boolean;
  /** What there is to say about the addresses of a Gateway has changed. */
  readonly onProblem: (gateway: string) => void;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly pace?: AddressPace;
}

/** What a Gateway wants. */
export interface AddressRequest {
  /** Its creationTimestamp. */
  readonly since: string;
  /** `unchanged`: what it has stays as it is. */
  readonly addresses: readonly WantedAddress[] | 'unchanged';
}

/** Milliseconds until a Service is looked at again after a write: others may write there, too, and must not keep the API server busy. */
export interface AddressPace {
  readonly rest: number;
  readonly retry: number;
}

const defaultPace: AddressPace = { rest: 500, retry: 5_000 };

/** Writes in flight. */
const concurrency = 8;

interface Sending {
  /** What is being given, and what is being given up: that is free only once it is known to be. */
  readonly reserved: readonly bigint[];
  readonly done: Promise<void>;
}

/**
 * Gives addresses of a pool to the Services of data planes that have our load balancer class, and to no other. What was given
 * stands in the statuses of Services (ServiceStatus.loadBalancer) and nowhere else, so that whoever leads next goes on from there.
 * Gateways are named `namespace/name`.
 */
export class AddressPool {
  readonly #options: AddressPoolOptions;
  /** Gateway → its Service. */
  readonly #services = new Map<string, WireObject>();
  /** `namespace/name` of a Service → its Gateway. */
  readonly #gateways = new Map<string, string>();
  readonly #ledger = new AddressLedger();
  /** Gateways to be looked at. */
  readonly #queue = new Set<string>();
  /** Gateways that may get more when others have less. */
  readonly #waiting = new Set<string>();
  readonly #sending = new Map<string, Sending>();
  /** Gateways that were written of late. */
  readonly #resting = new Map<string, NodeJS.Timeout>();
  readonly #problems = new Map<string, AddressProblem>();
  readonly #writes: Family<Cell>;
  #isStopped = false;

  constructor(options: AddressPoolOptions) {
    this.#options = options;
    this.#writes = options.metrics.counter({ name: 'address_writes_total', help: 'Writes of pool addresses to Services, by result.', labels: ['result'] });
  }

  /** What the cluster told; nobody is given anything before all of it is known. */
  observe(events: readonly ObjectChange[]): void {
    for (const event of events) if (event.ref.kind === 'Service') this.#observeService(event);
    this.#pump();
  }

  /** What this Gateway wants may have changed. */
  enqueue(gateway: string): void {
    this.#enter(gateway);
    this.#pump();
  }

  /** Looks at everything anew, at the begin of a term as leader. */
  becomeLeader(): void {
    for (const gateway of this.#services.keys()) this.#enter(gateway);
    this.#pump();
  }

  /** Why a Gateway has no address, or not those that it asks for. */
  problemOf(gateway: string): AddressProblem | undefined {
    return this.#problems.get(gateway);
  }

  /** Gives nothing more; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#sending.values()].map(({ done }) => done));
    for (const timer of this.#resting.values()) clearTimeout(timer);
  }

  #observeService(event: ObjectChange): void {
    const key = `${event.ref.namespace}/${event.ref.name}`;
    const before = this.#gateways.get(key);
    const gateway = event.type === 'upsert' && this.#options.ranges.length > 0 ? servedGateway(event.object) : undefined;
    if (before !== undefined && before !== gateway) this.#leave(key, before);
    if (event.type === 'delete' || gateway === undefined) return;
    // The answer to a write of ours may be ahead of the watch.
    if (isNewer(versionOf(this.#services.get(gateway)), versionOf(event.object))) return;
    this.#gateways.set(key, gateway);
    this.#services.set(gateway, event.object);
    this.#enter(gateway);
  }

  #leave(key: string, gateway: string): void {
    this.#gateways.delete(key);
    this.#services.delete(gateway);
    this.#ledger.delete(gateway);
    this.#waiting.delete(gateway);
    this.#wake();
    this.#setProblem(gateway, undefined);
  }

  /** Notes what a Gateway has and wants, and has it looked at. */
  #enter(gateway: string): void {
    const service = this.#services.get(gateway);
    if (service === undefined) return;
    const { since, addresses } = this.#options.requestOf(gateway);
    const held = this.#sending.get(gateway)?.reserved ?? addressesIn(service);
    this.#note({ gateway, since, families: familiesOf(service), held, ...demandOf(addresses) });
    this.#queue.add(gateway);
  }

  #note(claim: Claim): void {
    const before = this.#ledger.get(claim.gateway);
    this.#ledger.set(claim);
    if (before !== undefined && !isDeepStrictEqual([before.held, before.asked], [claim.held, claim.asked])) this.#wake();
  }

  /** There may be addresses again for those who wait. */
  #wake(): void {
    for (const gateway of this.#waiting) this.#queue.add(gateway);
  }

  /** The oldest come first. */
  #pump(): void {
    if (this.#isStopped || !this.#options.mayWrite()) {
      // Whoever becomes leader looks at everything.
      this.#queue.clear();
      return;
    }
    const claims = [...this.#queue].flatMap((gateway) => this.#ledger.get(gateway) ?? []);
    for (const { gateway } of claims.toSorted(byAge)) {
      if (this.#sending.size >= concurrency) return;
      if (!this.#sending.has(gateway) && !this.#resting.has(gateway) && this.#queue.delete(gateway)) this.#settle(gateway);
    }
  }

  #settle(gateway: string): void {
    const [claim, service] = [this.#ledger.get(gateway), this.#services.get(gateway)];
    if (claim === undefined || service === undefined) return;
    const allocation = allocate(claim, this.#options.ranges, this.#ledger);
    if (allocation.waits) this.#waiting.add(gateway);
    else this.#waiting.delete(gateway);
    if (isDeepStrictEqual(allocation.addresses, claim.held)) {
      this.#setProblem(gateway, allocation.problem);
      return;
    }
    const reserved = [...new Set([...allocation.addresses, ...claim.held])];
    this.#sending.set(gateway, { reserved, done: this.#send(claim, service, allocation) });
    this.#note({ ...claim, held: reserved });
  }

  async #send({ gateway }: Claim, service: WireObject, { addresses, problem }: Allocation): Promise<void> {
    const result = await this.#options.writer.updateStatus('Service', withAddresses(service, addresses));
    this.#sending.delete(gateway);
    this.#writes.at(result.type).value += 1;
    this.#rest(gateway, result);
    if (result.type === 'ok') {
      this.#keep(gateway, result.object);
      this.#setProblem(gateway, problem);
    } else this.#recordFailure(gateway, service, result);
    this.#enter(gateway);
    this.#pump();
  }

  /** Without waiting for the watch, or the next write would be for an object that is no more. */
  #keep(gateway: string, service: WireObject | undefined): void {
    const known = this.#services.get(gateway);
    if (known !== undefined && service !== undefined && isNewer(versionOf(service), versionOf(known))) this.#services.set(gateway, service);
  }

  #recordFailure(gateway: string, { metadata: { namespace = '', name } }: WireObject, { type, message }: Exclude<WriteResult, { readonly type: 'ok' }>): void {
    // Somebody was quicker: what is new is on its way here.
    if (type === 'conflict' || type === 'notFound') return;
    this.#options.log.warn({ gateway, outcome: type, problem: message }, 'cannot assign an address to a Service');
    if (type === 'forbidden' || type === 'invalid') this.#setProblem(gateway, { reason: 'AddressNotAssigned', message: `Cannot assign an address of the pool to Service "${namespace}/${name}": ${message}` });
  }

  #rest(gateway: string, { type }: WriteResult): void {
    const { rest, retry } = this.#options.pace ?? defaultPace;
    this.#resting.set(gateway, setTimeout(() => {
      this.#resting.delete(gateway);
      this.#pump();
    }, type === 'ok' || type === 'conflict' ? rest : retry));
  }

  #setProblem(gateway: string, problem: AddressProblem | undefined): void {
    if (isDeepStrictEqual(this.#problems.get(gateway), problem)) return;
    if (problem === undefined) this.#problems.delete(gateway);
    else this.#problems.set(gateway, problem);
    this.#options.onProblem(gateway);
  }
}

/** The Gateway whose data planes a Service leads to, where that is to have addresses of the pool. */
function servedGateway(service: WireObject): string | undefined {
  const { type, loadBalancerClass } = recordOf(service['spec']);
  return type === 'LoadBalancer' && loadBalancerClass === poolClass ? gatewayOfService(service) : undefined;
}

function demandOf(addresses: AddressRequest['addresses']): Pick<Claim, 'asked' | 'content'> {
  if (addresses === 'unchanged') return { asked: [], content: 'held' };
  const values = addresses.flatMap(({ type, value }) => (type === 'IPAddress' && value !== '' ? [value] : []));
  const asked = new Set(values.flatMap((value) => parseIpAddress(value) ?? []));
  return { asked: [...asked], content: values.length > 0 && values.length === addresses.length ? 'asked' : 'any' };
}

/** The API server names them; without it there would be one. */
function familiesOf(service: WireObject): readonly IpFamily[] {
  const families = listOf(recordOf(service['spec'])['ipFamilies']).filter((family): family is IpFamily => family === 'IPv4' || family === 'IPv6');
  return families.length > 0 ? families : ['IPv4'];
}

function addressesIn(service: WireObject): readonly bigint[] {
  const { ingress } = recordOf(recordOf(service['status'])['loadBalancer']);
  return listOf(ingress).filter(isRecord).flatMap(({ ip }) => (typeof ip === 'string' ? (parseIpAddress(ip) ?? []) : []));
}

function withAddresses(service: WireObject, addresses: readonly bigint[]): WireObject {
  return { ...service, status: { ...recordOf(service['status']), loadBalancer: { ingress: addresses.map((address) => ({ ip: formatIpAddress(address) })) } } };
}

function versionOf(object: WireObject | undefined): string {
  return object?.metadata.resourceVersion ?? '';
}
