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
  /** Pods that are ready for traffic. */
  readonly pods: ReadonlySet<string>;
}

export interface DataPlaneServicesOptions {
  readonly onReachability: (gateway: string, reach: Reachability) => void;
}

/** Tracks the Services of data planes and their EndpointSlices. */
export class DataPlaneServices {
  private readonly options: DataPlaneServicesOptions;
  private readonly services = new Map<string, { readonly gateway: string; readonly object: WireObject }>();
  /** Service → slice → pods. */
  private readonly slices = new Map<string, Map<string, readonly string[]>>();
  /** Services that have had a ready pod. */
  private readonly reachable = new Set<string>();

  constructor(options: DataPlaneServicesOptions) {
    this.options = options;
  }

  /** Gateways with a known Service. */
  gateways(): readonly string[] {
    return [...this.services.values()].map(({ gateway }) => gateway);
  }

  /** Takes an event about a Service or EndpointSlice. Ignores those that do not belong to data planes. */
  observe(event: ObjectChange): void {
    if (event.ref.kind === 'Service') this.observeService(event);
    else if (event.ref.kind === 'EndpointSlice') this.observeSlice(event);
  }

  /** Records that the data planes of this Gateway were reachable before this controller started. */
  assumeReachable(gateway: string): void {
    for (const service of servicesOf(gateway)) this.reachable.add(service);
  }

  /** Reports the state of a Gateway once more. */
  repeat(gateway: string): void {
    this.tell(gateway);
  }

  /** The Services of a Gateway that exist, whether it still needs them or not. */
  servicesOf(gateway: string): readonly WireObject[] {
    return servicesOf(gateway).flatMap((service) => this.services.get(service)?.object ?? []);
  }

  private observeService(event: ObjectChange): void {
    const key = qualifiedName(event.ref);
    const before = this.services.get(key);
    const gateway = event.type === 'upsert' ? gatewayOfService(event.object) : undefined;
    if (event.type === 'upsert' && gateway !== undefined) {
      this.services.set(key, { gateway, object: event.object });
      this.tell(gateway);
    } else if (before !== undefined) {
      this.services.delete(key);
      this.reachable.delete(key);
      this.tell(before.gateway);
    }
  }

  private observeSlice(event: ObjectChange): void {
    const slice = qualifiedName(event.ref);
    if (event.type === 'delete') {
      for (const [service, slices] of this.slices) if (slices.delete(slice)) this.update(service, slices);
      return;
    }
    // The EndpointSlice controller copies the labels of the Service to its slices.
    const { labels = {} } = event.object.metadata;
    if (labels[managedBy.label] !== managedBy.value) return;
    const service = `${event.ref.namespace}/${labels['kubernetes.io/service-name'] ?? ''}`;
    const slices = this.slices.get(service) ?? new Map<string, readonly string[]>();
    this.slices.set(service, slices.set(slice, readyPods(event.object)));
    this.update(service, slices);
  }

  private update(service: string, slices: ReadonlyMap<string, readonly string[]>): void {
    if (slices.size === 0) this.slices.delete(service);
    if ([...slices.values()].some((pods) => pods.length > 0)) this.reachable.add(service);
    const known = this.services.get(service);
    if (known !== undefined) this.tell(known.gateway);
  }

  private tell(gateway: string): void {
    const known = servicesOf(gateway).flatMap((service) => {
      const object = this.services.get(service)?.object;
      return object === undefined ? [] : [{ service, object }];
    });
    const pods = known.flatMap(({ service }) => [...(this.slices.get(service)?.values() ?? [])].flat());
    const addresses = known.flatMap(({ service, object }) => {
      if (!this.reachable.has(service)) return [];
      const found = addressesOfService(object);
      return isClusterService(object, gateway) ? found.map((one) => ({ ...one, scope: 'Cluster' as const })) : found;
    });
    this.options.onReachability(gateway, { addresses, pods: new Set(pods) });
  }
}

/** `namespace/name` of the Services that a Gateway may have. */
function servicesOf(gateway: string): readonly string[] {
  const { namespace } = ofQualifiedName(gateway);
  return serviceNames(gateway).map((name) => qualifiedName({ namespace, name }));
}
