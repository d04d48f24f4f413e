import type { Acknowledgement } from '../core/graph/inputs.ts';
import { managedBy } from './data-plane-manifests.ts';
import { addressesOfService, gatewayOfService, readyPods } from './data-plane-objects.ts';
import { dataPlaneName } from './names.ts';
import type { ObjectChange, WireObject } from './ports.ts';

/** How the data planes of a Gateway (`namespace/name`) can be reached. */
export interface Reachability {
  /** None before somebody answered there once: a restart of data planes takes nothing back. */
  readonly addresses: Acknowledgement['addresses'];
  /** Pods that are ready for traffic. */
  readonly pods: ReadonlySet<string>;
}

export interface DataPlaneServicesOptions {
  readonly onReachability: (gateway: string, reach: Reachability) => void;
}

/** What the Services of data planes and their EndpointSlices tell. */
export class DataPlaneServices {
  readonly #options: DataPlaneServicesOptions;
  readonly #services = new Map<string, { readonly gateway: string; readonly object: WireObject }>();
  /** Service → slice → pods. */
  readonly #slices = new Map<string, Map<string, readonly string[]>>();
  /** Services that somebody answered behind, once. */
  readonly #reachable = new Set<string>();

  constructor(options: DataPlaneServicesOptions) {
    this.#options = options;
  }

  /** Gateways that a Service is known of. */
  gateways(): readonly string[] {
    return [...this.#services.values()].map(({ gateway }) => gateway);
  }

  /** An event about a Service or EndpointSlice; those of others do not matter. */
  observe(event: ObjectChange): void {
    if (event.ref.kind === 'Service') this.#observeService(event);
    else if (event.ref.kind === 'EndpointSlice') this.#observeSlice(event);
  }

  /** The data planes of this Gateway answered before this controller started. */
  assumeReachable(gateway: string): void {
    this.#reachable.add(serviceOf(gateway));
  }

  /** Tells what is known about a Gateway once more. */
  repeat(gateway: string): void {
    this.#tell(serviceOf(gateway));
  }

  #observeService(event: ObjectChange): void {
    const key = `${event.ref.namespace}/${event.ref.name}`;
    const before = this.#services.get(key);
    const gateway = event.type === 'upsert' ? gatewayOfService(event.object) : undefined;
    if (event.type === 'upsert' && gateway !== undefined) {
      this.#services.set(key, { gateway, object: event.object });
      this.#tell(key);
    } else if (before !== undefined) {
      this.#services.delete(key);
      this.#reachable.delete(key);
      this.#options.onReachability(before.gateway, { addresses: [], pods: new Set() });
    }
  }

  #observeSlice(event: ObjectChange): void {
    const slice = `${event.ref.namespace}/${event.ref.name}`;
    if (event.type === 'delete') {
      for (const [service, slices] of this.#slices) if (slices.delete(slice)) this.#update(service, slices);
      return;
    }
    // The API server's own controller gives slices the labels of their Service.
    const { labels = {} } = event.object.metadata;
    if (labels[managedBy.label] !== managedBy.value) return;
    const service = `${event.ref.namespace}/${labels['kubernetes.io/service-name'] ?? ''}`;
    const slices = this.#slices.get(service) ?? new Map<string, readonly string[]>();
    this.#slices.set(service, slices.set(slice, readyPods(event.object)));
    this.#update(service, slices);
  }

  #update(service: string, slices: ReadonlyMap<string, readonly string[]>): void {
    if (slices.size === 0) this.#slices.delete(service);
    if ([...slices.values()].some((pods) => pods.length > 0)) this.#reachable.add(service);
    this.#tell(service);
  }

  #tell(service: string): void {
    const known = this.#services.get(service);
    if (known === undefined) return;
    const pods = new Set([...(this.#slices.get(service)?.values() ?? [])].flat());
    this.#options.onReachability(known.gateway, { addresses: this.#reachable.has(service) ? addressesOfService(known.object) : [], pods });
  }
}

function serviceOf(gateway: string): string {
  const [namespace = '', name = ''] = gateway.split('/');
  return `${namespace}/${dataPlaneName(name)}`;
}
