import type { DataPlaneParameters } from '../../core/graph/parameters.ts';
import type { ConfigKey, ConfigResource, ListenerConfig } from '../../core/routing/config.ts';
import { millisecondsOf } from '../../core/text/duration.ts';
import { parseNetworks, parseProxyVersions } from '../../core/text/proxy-protocol.ts';
import type { Transaction } from '../../proxy/configuration.ts';
import type { ProxyLimits } from '../../proxy/limits/limits.ts';
import type { ConfigProblem, Proxy, ProxyOptions } from '../../proxy/proxy.ts';
import type { Address } from '../../proxy/sockets/address.ts';

/** The settings of a data plane that parameters determine. */
export type ProxySettings = Pick<ProxyOptions, 'forwarded' | 'limits' | 'proxyProtocol' | 'internalBackendNetworks'>;

export interface StandaloneProxiesOptions {
  /** The parameters of a Gateway (`namespace/name`) at present. */
  readonly parametersOf: (gateway: string) => DataPlaneParameters;
  readonly create: (settings: ProxySettings) => Proxy;
  /** Milliseconds that requests in flight get when the parameters of their Gateway change. */
  readonly grace: number;
}

/**
 * The data planes of this process. Gateways with equal parameters share one, so that they can share a port, too. All data planes have
 * all routes and endpoints; each has the listeners of its Gateways.
 */
export class StandaloneProxies {
  private readonly options: StandaloneProxiesOptions;
  private readonly held = new Map<ConfigKey, ConfigResource>();
  /** By their settings as text. */
  private readonly proxies = new Map<string, Proxy>();
  /** Listener → settings of the data plane that has it. */
  private readonly places = new Map<ConfigKey, string>();
  /** Data planes without listeners, until their connections have ended. */
  private readonly draining = new Set<Promise<void>>();
  private queue: Promise<unknown> = Promise.resolve();

  constructor(options: StandaloneProxiesOptions) {
    this.options = options;
  }

  /** Applies a transaction with the parameters at present, also those that have changed. Returns all problems, as `Proxy.apply` does. */
  apply(transaction: Transaction): Promise<readonly ConfigProblem[]> {
    const result = this.queue.then(() => this.applyNow(transaction));
    this.queue = result.catch(() => undefined);
    return result;
  }

  private async applyNow({ upserts, removals }: Transaction): Promise<readonly ConfigProblem[]> {
    for (const key of removals) this.held.delete(key);
    for (const resource of upserts) this.held.set(resource.key, resource);
    const wanted = this.wantedPlaces();
    const left = Map.groupBy(
      [...this.places].filter(([key, place]) => wanted.get(key) !== place),
      ([, place]) => place,
    );
    // First, so that a port is free when another data plane binds it.
    for (const [place, listeners] of left)
      await this.proxies.get(place)?.apply({ upserts: [], removals: listeners.map(([key]) => key) });
    const problems: ConfigProblem[] = [];
    const listenersOf = this.changedListeners(wanted, new Set(upserts.map(({ key }) => key)));
    const others = upserts.filter(({ kind }) => kind !== 'listener');
    for (const place of new Set([...this.proxies.keys(), ...wanted.values()])) {
      const isNew = !this.proxies.has(place);
      const shared = isNew ? [...this.held.values()].filter(({ kind }) => kind !== 'listener') : others;
      const listeners = listenersOf.get(place) ?? [];
      problems.push(...(await this.proxyOf(place).apply({ upserts: [...listeners, ...shared], removals })));
    }
    this.places.clear();
    for (const [key, place] of wanted) this.places.set(key, place);
    this.closeUnused();
    return problems;
  }

  /** Reloads the certificates of all listeners. Returns all problems. */
  async reloadCertificates(): Promise<readonly ConfigProblem[]> {
    const problems = await Promise.all([...this.proxies.values()].map((proxy) => proxy.reloadCertificates()));
    return problems.flat();
  }

  /** The bound addresses of a listener; empty if binding failed. */
  addressesOf(listener: ConfigKey): readonly Address[] {
    return this.proxies.get(this.places.get(listener) ?? '')?.addressesOf(listener) ?? [];
  }

  /** Closes all data planes. Requests in flight get the time. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...[...this.proxies.values()].map((proxy) => proxy.close({ graceMs })), ...this.draining]);
  }

  private wantedPlaces(): ReadonlyMap<ConfigKey, string> {
    const byGateway = new Map<string, string>();
    const placeOf = ({ gateway }: ListenerConfig): string => {
      const known = byGateway.get(gateway) ?? JSON.stringify(relevant(this.options.parametersOf(gateway)));
      byGateway.set(gateway, known);
      return known;
    };
    const listeners = [...this.held.values()].filter((resource) => resource.kind === 'listener');
    return new Map(listeners.map((listener) => [listener.key, placeOf(listener)]));
  }

  /** Listeners that have changed, or that another data plane had, by the settings of their data plane. */
  private changedListeners(
    wanted: ReadonlyMap<ConfigKey, string>,
    changed: ReadonlySet<ConfigKey>,
  ): ReadonlyMap<string, readonly ConfigResource[]> {
    const concerned = [...wanted].filter(([key, place]) => changed.has(key) || this.places.get(key) !== place);
    const held = concerned.flatMap(([key, place]) => {
      const resource = this.held.get(key);
      return resource === undefined ? [] : [{ place, resource }];
    });
    const byPlace = Map.groupBy(held, ({ place }) => place);
    return new Map([...byPlace].map(([place, all]) => [place, all.map(({ resource }) => resource)]));
  }

  private proxyOf(place: string): Proxy {
    const known = this.proxies.get(place);
    if (known !== undefined) return known;
    const proxy = this.options.create(settingsOf(JSON.parse(place) as DataPlaneParameters));
    this.proxies.set(place, proxy);
    return proxy;
  }

  private closeUnused(): void {
    const used = new Set(this.places.values());
    for (const [place, proxy] of this.proxies) {
      if (used.has(place)) continue;
      this.proxies.delete(place);
      const closing: Promise<void> = proxy
        .close({ graceMs: this.options.grace })
        .finally(() => this.draining.delete(closing));
      this.draining.add(closing);
    }
  }
}

/** The parameters that mean something without a cluster. Others are about Deployments, pods and Services. */
function relevant({
  forwarded,
  acceptProxyProtocol,
  sendProxyProtocol,
  connectionsPerClient,
  tcpIdleTimeout,
  udpIdleTimeout,
  udpFlows,
  internalBackendNetworks,
}: DataPlaneParameters): DataPlaneParameters {
  return {
    ...(forwarded !== undefined && { forwarded }),
    ...(acceptProxyProtocol !== undefined && { acceptProxyProtocol }),
    ...(sendProxyProtocol !== undefined && { sendProxyProtocol }),
    ...(connectionsPerClient !== undefined && { connectionsPerClient }),
    ...(tcpIdleTimeout !== undefined && { tcpIdleTimeout }),
    ...(udpIdleTimeout !== undefined && { udpIdleTimeout }),
    ...(udpFlows !== undefined && { udpFlows }),
    ...(internalBackendNetworks !== undefined && { internalBackendNetworks }),
  };
}

/** The settings for valid parameters, as the options of `sallyport proxy` determine them. Invalid ones do not get here. */
export function settingsOf(parameters: DataPlaneParameters): ProxySettings {
  const { forwarded, acceptProxyProtocol, sendProxyProtocol, internalBackendNetworks } = parameters;
  const accept = acceptProxyProtocol === undefined ? undefined : parseNetworks(acceptProxyProtocol);
  const internal = internalBackendNetworks === undefined ? undefined : parseNetworks(internalBackendNetworks);
  const send = sendProxyProtocol === undefined ? undefined : parseProxyVersions(sendProxyProtocol);
  return {
    ...(forwarded === 'append' || forwarded === 'replace' ? { forwarded } : {}),
    proxyProtocol: {
      ...(accept?.ok === true && { accept: accept.value }),
      ...(send?.ok === true && { send: send.value }),
    },
    limits: limitsOf(parameters),
    ...(internal?.ok === true && { internalBackendNetworks: internal.value }),
  };
}

/** One client address may use at most a quarter of the flows. */
function limitsOf({
  connectionsPerClient,
  tcpIdleTimeout,
  udpIdleTimeout,
  udpFlows,
}: DataPlaneParameters): Partial<ProxyLimits> {
  return {
    ...(connectionsPerClient !== undefined && { connectionsPerClient: Number(connectionsPerClient) }),
    ...durationOf('tcpIdleTimeout', tcpIdleTimeout),
    ...durationOf('udpIdleTimeout', udpIdleTimeout),
    ...(udpFlows !== undefined && { udpFlows: Number(udpFlows), udpFlowsPerClient: Math.ceil(Number(udpFlows) / 4) }),
  };
}

function durationOf(name: 'tcpIdleTimeout' | 'udpIdleTimeout', text: string | undefined): Partial<ProxyLimits> {
  const milliseconds = millisecondsOf(text);
  return milliseconds === undefined ? {} : { [name]: milliseconds };
}
