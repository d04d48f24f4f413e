import { ReleasingMap } from '../limits/releasing-map.ts';
import type { RemoteInfo, Socket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { traceStart } from '../../channel/trace.ts';
import type { ConfigKey, ListenerConfig } from '../../core/routing/config.ts';
import { anyAddress } from '../sockets/address.ts';
import type { Address } from '../sockets/address.ts';
import type { DataPlane } from '../data-plane.ts';
import { bindDatagrams, openDatagrams, sendDatagram, sendLimitsOf } from './datagrams.ts';
import type { FlowOrder } from './flow-order.ts';
import { Flow } from './flow.ts';
import { reportOf, traceIn } from './trace.ts';
import { monotonicNow } from '../../time/clock.ts';
import { eachInTurns } from '../../time/slices.ts';

/** A socket of the port and the flows that arrived through it. Responses are sent from its address. */
interface Entrance {
  readonly socket: Socket;
  readonly flows: ReleasingMap<string, Flow>;
}

const anyIpv4 = '0.0.0.0';
/** Minimum interval in milliseconds at which the addresses of this machine are read. */
const refreshInterval = 1_000;
/** Milliseconds of silence after which a flow counts as completed when the port closes. */
const quietTime = 1_000;

/** One UDP port. Receives datagrams of clients, and keeps a flow per client address and port. */
export class UdpPort {
  private readonly plane: DataPlane;
  private readonly order: FlowOrder;
  /** By bound address. */
  private readonly entrances = new Map<string, Entrance>();
  private bound: Address | undefined;
  private listener: ListenerConfig | undefined;
  private refreshedAt = -Infinity;
  /** Whether no new flows are accepted. */
  private isDraining = false;
  /** The drain in progress. */
  private drainage: symbol | undefined;

  constructor(plane: DataPlane, order: FlowOrder) {
    this.plane = plane;
    this.order = order;
  }

  /** Binds the port. Rejects with the system's error, such as EADDRINUSE. Datagrams are dropped until `configure`. */
  async listen({ host, port }: Address): Promise<void> {
    if (host !== anyAddress && host !== anyIpv4) {
      this.bound = { host, port: await this.enter(host, port, {}) };
      return;
    }
    const any = await usableDatagrams(host, port);
    this.bound = { host: any.host, port: any.port };
    await this.enter(any.host, any.port, { reuseAddr: true });
    await this.refresh();
  }

  get address(): Address | undefined {
    return this.bound;
  }

  /** Replaces the listener. Existing flows are not affected. */
  configure(listeners: readonly ListenerConfig[]): ReadonlyMap<ConfigKey, readonly string[]> {
    const [first, ...others] = listeners;
    this.listener = first;
    this.isDraining = false;
    return new Map(others.map(({ key }) => [key, [`${first?.key ?? ''} already serves this port`]]));
  }

  /** UDP has no way to tell a client to reconnect, so flows continue until `drain`. */
  retire(): void {
    // Nothing to do.
  }

  /**
   * Accepts no new flows, waits until existing ones have been silent for a second, for at most `grace` milliseconds, and ends them.
   * Another call, or `stay`, replaces an earlier one.
   */
  async drain(grace: number): Promise<void> {
    const drainage = Symbol('drainage');
    this.drainage = drainage;
    this.isDraining = true;
    const end = monotonicNow() + grace;
    for (let wait = this.timeToQuiet(end); wait > 0; wait = this.timeToQuiet(end)) {
      await delay(wait);
      if (this.drainage !== drainage) return;
    }
    await this.leaveAll();
  }

  /** Ends the drain, so that the port can be configured again. Returns `false` if its flows have ended. */
  stay(): boolean {
    if (this.entrances.size === 0) return false;
    this.drainage = undefined;
    return true;
  }

  private timeToQuiet(end: number): number {
    let last = -Infinity;
    for (const { flows } of this.entrances.values()) {
      for (const { renewedAt } of flows.values()) last = Math.max(last, renewedAt);
    }
    return Math.ceil(Math.min(last + quietTime, end) - monotonicNow());
  }

  private async leaveAll(): Promise<void> {
    const entrances = [...this.entrances.values()];
    this.entrances.clear();
    for (const entrance of entrances) await this.leave(entrance);
  }

  private async leave({ socket, flows }: Entrance): Promise<void> {
    // No further flow may open meanwhile.
    socket.removeAllListeners('message');
    await eachInTurns(flows.values(), (flow) => flow.end('cut'));
    socket.close();
  }

  /** Binds one address and receives its datagrams; returns the port. */
  private async enter(host: string, port: number, options: { readonly reuseAddr?: boolean }): Promise<number> {
    const socket = openDatagrams(host, options);
    await bindDatagrams(socket, host, port);
    const entrance = { socket, flows: new ReleasingMap<string, Flow>() };
    this.entrances.set(host, entrance);
    socket.on('message', (message, from) => this.receive(entrance, message, from));
    return socket.address().port;
  }

  /**
   * Binds each address of this machine separately. A response is sent from the address that its socket is bound to.
   * From a socket bound to all addresses, it would be sent from the address that the route to the client prefers.
   */
  private async refresh(): Promise<void> {
    const { bound } = this;
    this.refreshedAt = monotonicNow();
    if (bound === undefined || this.isDraining) return;
    const present = localAddresses(bound.host);
    for (const [host, entrance] of this.entrances) {
      if (host === bound.host || present.includes(host)) continue;
      this.entrances.delete(host);
      void this.leave(entrance);
    }
    for (const host of present) {
      if (this.entrances.has(host)) continue;
      // The address may disappear between these two steps. Until the next refresh, the socket for all addresses receives its datagrams.
      await this.enter(host, bound.port, { reuseAddr: true }).catch(() => undefined);
    }
    if (this.drainage !== undefined) await this.leaveAll();
  }

  private receive(entrance: Entrance, message: Buffer, from: RemoteInfo): void {
    try {
      if (message[0] === traceStart[0] && this.isTrace(entrance, message, from)) return;
      const flow = entrance.flows.get(flowKey(from)) ?? this.open(entrance, from);
      if (flow === undefined) this.plane.counters.layer4.droppedDatagrams += 1;
      else flow.forward(message);
    } catch (error) {
      this.plane.fault(error);
      entrance.flows.get(flowKey(from))?.end('connect-failed');
    }
  }

  /** Answers a trace with the decision about a new flow. The endpoint gets no datagram. */
  private isTrace({ socket }: Entrance, message: Buffer, from: RemoteInfo): boolean {
    const { listener, plane } = this;
    if (listener === undefined) return false;
    const trace = traceIn(plane.tracing, { protocol: 'UDP', port: listener.port, serverName: '' }, message);
    if (trace === undefined) return false;
    plane.counters.layer4.reasons.trace += 1;
    if (trace === 'spent') return true;
    const { route, destination } = plane.layer4.choose(listener.key, '', plane.endpoints);
    const chosen = typeof destination === 'string' ? undefined : destination;
    const upstream = chosen?.endpoints.pick([], plane.now())?.address;
    const report = reportOf(
      { listener, route, backend: chosen?.backend, upstream },
      typeof destination === 'string' ? destination : undefined,
    );
    sendDatagram(socket, trace(report), sendLimitsOf(plane, from.address), from);
    return true;
  }

  private open(entrance: Entrance, from: RemoteInfo): Flow | undefined {
    const { listener, plane } = this;
    if (listener === undefined || this.isDraining) return undefined;
    this.lookForAddresses(entrance);
    const { route, destination } = plane.layer4.choose(listener.key, '', plane.endpoints);
    if (typeof destination === 'string') {
      plane.counters.layer4.reasons[destination] += 1;
      return undefined;
    }
    const key = flowKey(from);
    const { address, port } = from;
    const sendLimits = sendLimitsOf(plane, address);
    const flow: Flow = new Flow(
      plane,
      {
        listener,
        address,
        port,
        answer: (message) => sendDatagram(entrance.socket, message, sendLimits, { address, port }),
        active: () => this.order.touch(flow),
        ended: () => {
          this.order.remove(flow);
          entrance.flows.delete(key);
        },
      },
      { route, destination },
    );
    entrance.flows.set(key, flow);
    this.order.add(flow);
    flow.arrive();
    return entrance.flows.get(key);
  }

  /** Refreshes the addresses if the socket for all addresses received a datagram: the address that it was sent to has no socket yet. */
  private lookForAddresses({ socket }: Entrance): void {
    const isAny = this.bound !== undefined && this.entrances.get(this.bound.host)?.socket === socket;
    const mayRefresh = this.entrances.size > 1 && monotonicNow() - this.refreshedAt > refreshInterval;
    if (isAny && mayRefresh) void this.refresh();
  }
}

function flowKey({ address, port }: RemoteInfo): string {
  return `${address} ${port}`;
}

/**
 * Returns an address and a port that no other process uses; the wildcard address of IPv4 on a machine without IPv6. The sockets of a port
 * share it among each other, which would also allow another process to share it. This socket detects that.
 */
export async function usableDatagrams(host: string, port: number): Promise<Address> {
  const socket = openDatagrams(host);
  try {
    await bindDatagrams(socket, host, port);
  } catch (error) {
    if (host === anyAddress && isWithoutIpv6(error)) return usableDatagrams(anyIpv4, port);
    throw error;
  }
  const bound = { host, port: socket.address().port };
  await new Promise<void>((closed) => {
    socket.close(closed);
  });
  return bound;
}

function isWithoutIpv6(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL';
}

/** Returns the addresses of this machine in the families of `any`. IPv6 link-local addresses need a zone and are omitted. */
function localAddresses(any: string): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all
    .filter(({ family, scopeid }) => family === 'IPv4' || (any === anyAddress && (scopeid ?? 0) === 0))
    .map(({ address }) => address);
}
