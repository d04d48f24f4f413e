import { ofQualifiedName, qualifiedName } from '../core/resources/reference.ts';
import type { Acknowledgement } from '../core/graph/inputs.ts';
import { managedBy } from './data-plane-manifests.ts';
import {
  addressesOfService,
  gatewayOfService,
  isClusterService,
  readyPods,
  serviceNames,
} from './data-plane-objects.ts';
import type { ObjectChange, WireObject } from './ports.ts';

/** Addresses and pods of the data planes of a Gateway (`namespace/name`). */
export interface Reachability {
  /** Empty until a pod was ready for the first time. A later restart of the data planes does not clear it. */
  readonly addresses: Acknowledgement['addresses'];
  /** Pods that are ready for traffic, at most `maxPods`. */
  readonly pods: ReadonlySet<string>;
}

/** Whoever may write EndpointSlices in the namespace of a Gateway can invent pods, and the state of each is compared for each change. */
const maxPods = 2_000;

export interface DataPlaneServicesOptions {
  readonly onReachability: (gateway: string, reach: Reachability) => void;
}

/** Tracks the Services of data planes and their EndpointSlices. */
export class DataPlaneServices {
  private readonly options: DataPlaneServicesOptions;
  private readonly services = new Map<string, { readonly gateway: string; readonly object: WireObject }>();
  /** Service → slice → pods. */
  private readonly slices = new Map<string, Map<string, readonly string[]>>();
  /** Slice → Service. Its labels may change. */
  private readonly serviceOf = new Map<string, string>();
  /** Existing Services that have had a ready pod, and those of served Gateways that are assumed to have had one. */
  private readonly reachable = new Set<string>();

  constructor(options: DataPlaneServicesOptions) {
    this.options = options;
  }

  /** Gateways with a known Service. */
  gateways(): readonly string[] {
    return [...this.services.values()].map(({ gateway }) => gateway);
  }

  /** Takes events about Services and EndpointSlices. Ignores those that do not belong to data planes. */
  observe(events: readonly ObjectChange[]): void {
    const changed = events.flatMap((event) => {
      if (event.ref.kind === 'Service') return this.observeService(event);
      return event.ref.kind === 'EndpointSlice' ? this.observeSlice(event) : [];
    });
    for (const gateway of new Set(changed)) this.tell(gateway);
  }

  /** Records that the data planes of this Gateway were reachable before this controller started. */
  assumeReachable(gateway: string): void {
    for (const service of servicesOf(gateway)) this.reachable.add(service);
  }

  /** Call this when a Gateway is not served any more. */
  forget(gateway: string): void {
    for (const service of servicesOf(gateway)) {
      if (!this.services.has(service)) this.reachable.delete(service);
    }
  }

  /** Reports the state of a Gateway once more. */
  repeat(gateway: string): void {
    this.tell(gateway);
  }

  /** The Services of a Gateway that exist, whether it still needs them or not. */
  servicesOf(gateway: string): readonly WireObject[] {
    return servicesOf(gateway).flatMap((service) => this.services.get(service)?.object ?? []);
  }

  /** Returns the Gateways whose state may have changed. */
  private observeService(event: ObjectChange): readonly string[] {
    const key = qualifiedName(event.ref);
    const before = this.services.get(key);
    const gateway = event.type === 'upsert' ? gatewayOfService(event.object) : undefined;
    if (event.type === 'upsert' && gateway !== undefined) {
      this.services.set(key, { gateway, object: event.object });
      this.noteReachable(key);
      return [gateway];
    }
    if (before === undefined) return [];
    this.services.delete(key);
    this.reachable.delete(key);
    return [before.gateway];
  }

  /** Returns the Gateways whose state may have changed. */
  private observeSlice(event: ObjectChange): readonly string[] {
    const slice = qualifiedName(event.ref);
    const before = this.serviceOf.get(slice);
    const service = event.type === 'upsert' ? serviceOfSlice(event.object) : undefined;
    if (before !== undefined && before !== service) this.release(slice, before);
    if (event.type === 'upsert' && service !== undefined) this.assign(slice, service, readyPods(event.object));
    return [before, service].flatMap((one) => (one === undefined ? [] : (this.services.get(one)?.gateway ?? [])));
  }

  private assign(slice: string, service: string, pods: readonly string[]): void {
    const slices = this.slices.get(service) ?? new Map<string, readonly string[]>();
    this.slices.set(service, slices.set(slice, pods));
    this.serviceOf.set(slice, service);
    this.noteReachable(service);
  }

  /** Whoever may write EndpointSlices can name any number of Services one after the other, so only those that exist are remembered. */
  private noteReachable(service: string): void {
    const hasPods =
      this.slices
        .get(service)
        ?.values()
        .some((pods) => pods.length > 0) ?? false;
    if (hasPods && this.services.has(service)) this.reachable.add(service);
  }

  private release(slice: string, service: string): void {
    const slices = this.slices.get(service);
    slices?.delete(slice);
    if (slices?.size === 0) this.slices.delete(service);
    this.serviceOf.delete(slice);
  }

  private podsOf(services: readonly string[]): ReadonlySet<string> {
    const pods = new Set<string>();
    for (const service of services)
      for (const ready of this.slices.get(service)?.values() ?? [])
        for (const pod of ready) {
          if (pods.size === maxPods) return pods;
          pods.add(pod);
        }
    return pods;
  }

  private tell(gateway: string): void {
    const known = servicesOf(gateway).flatMap((service) => {
      const object = this.services.get(service)?.object;
      return object === undefined ? [] : [{ service, object }];
    });
    const pods = this.podsOf(known.map(({ service }) => service));
    const addresses = known.flatMap(({ service, object }) => {
      if (!this.reachable.has(service)) return [];
      const found = addressesOfService(object);
      return isClusterService(object, gateway) ? found.map((one) => ({ ...one, scope: 'Cluster' as const })) : found;
    });
    this.options.onReachability(gateway, { addresses, pods });
  }
}

/** `namespace/name` of the Service of a slice. The EndpointSlice controller copies the labels of the Service to its slices. */
function serviceOfSlice({ metadata: { namespace = '', labels = {} } }: WireObject): string | undefined {
  return labels[managedBy.label] === managedBy.value
    ? qualifiedName({ namespace, name: labels['kubernetes.io/service-name'] ?? '' })
    : undefined;
}

/** `namespace/name` of the Services that a Gateway may have. */
function servicesOf(gateway: string): readonly string[] {
  const { namespace } = ofQualifiedName(gateway);
  return serviceNames(gateway).map((name) => qualifiedName({ namespace, name }));
}
