import type { Socket } from 'node:dgram';
import type { ListenerConfig } from '../../core/routing/config.ts';
import { plainPeer } from '../sockets/address.ts';
import type { DataPlane } from '../data-plane.ts';
import { receivedInTurn } from '../sockets/datagrams-in-turns.ts';
import type { Endpoint } from '../upstream/endpoints.ts';
import { ActionInTurns } from '../../time/slices.ts';
import { Account } from './account.ts';
import { openDatagrams, sendDatagram, sendLimitsOf, type SendLimits } from './datagrams.ts';
import type { OrderedFlow } from './flow-order.ts';
import type { Pass } from './own-connections.ts';
import type { Layer4Reason } from './reasons.ts';
import type { Choice, Destination } from './routes.ts';

/** Closes the sockets whose datagrams are refused, a few in each turn: those of thousands of flows can be refused at the same moment. */
const refusals = new ActionInTurns<() => void>((refuse) => refuse());

/** The client's side of a flow. */
export interface FlowClient {
  readonly listener: ListenerConfig;
  readonly address: string;
  readonly port: number;
  /** Sends a datagram to the client from the address that it wrote to; `false` if the send queue is full. */
  answer(message: Buffer): boolean;
  /** A datagram was received or sent. */
  active(): void;
  ended(): void;
}

/** The backend choice of an open flow. */
interface Opened extends Choice {
  readonly destination: Destination;
}

/**
 * The datagrams between one client address and port and one backend. Each flow has its own socket to its backend, so
 * that responses find their client. If the endpoint is gone or unreachable, the client's next datagram goes to another
 * one.
 */
export class Flow implements OrderedFlow, Pass {
  readonly owner: string;
  renewedAt = 0;
  cameFrom: Pass | undefined;
  private readonly plane: DataPlane;
  private readonly client: FlowClient;
  private readonly account: Account;
  private readonly sendLimits: SendLimits;
  private destination: Destination;
  private endpoint: Endpoint | undefined;
  private socket: Socket | undefined;
  private isOver = false;

  constructor(plane: DataPlane, client: FlowClient, { route, destination }: Opened) {
    this.plane = plane;
    this.client = client;
    this.owner = plainPeer(client.address);
    this.destination = destination;
    this.sendLimits = sendLimitsOf(plane, client.address);
    this.account = new Account(plane, {
      transport: 'udp',
      client: this.owner,
      listener: client.listener,
      serverName: '',
    });
    this.account.route = route;
  }

  /** Sends a datagram of the client to the backend. */
  forward(message: Buffer): void {
    this.client.active();
    if (!this.isCurrent()) this.disconnect();
    const socket = this.socket ?? this.connect();
    this.account.received(message.length);
    if (socket === undefined) this.plane.counters.layer4.droppedDatagrams += 1;
    else this.drop(sendDatagram(socket, message, this.sendLimits));
  }

  /** Records the client's address. The flow ends if its route leads back to the data plane. */
  arrive(): void {
    const { address, port } = this.client;
    this.plane.ownFlows.arrive({ from: { host: address, port }, to: undefined }, this);
  }

  looped(): void {
    this.end('loop-detected');
  }

  end(reason?: Layer4Reason): void {
    if (this.isOver) return;
    this.isOver = true;
    this.disconnect();
    this.plane.ownFlows.leave(this);
    this.account.close(reason);
    this.client.ended();
  }

  /** Whether the endpoint still belongs to its Service. */
  private isCurrent(): boolean {
    const { backend, endpoints } = this.destination;
    const current = this.plane.endpoints.get(backend);
    if (current === endpoints) return true;
    if (
      current === undefined ||
      current.failure !== undefined ||
      this.endpoint === undefined ||
      !current.has(this.endpoint)
    )
      return false;
    this.destination = { backend, endpoints: current };
    return true;
  }

  private connect(): Socket | undefined {
    // Loop detection may have ended the flow.
    if (this.isOver) return undefined;
    const destination = this.reconsider();
    const endpoint = destination?.endpoints.pick([], this.plane.now());
    if (destination === undefined || endpoint === undefined) return undefined;
    const { host, port } = endpoint.upstream(this.client.listener.gateway, () => undefined);
    const socket = openDatagrams(host);
    this.destination = destination;
    this.endpoint = endpoint;
    this.socket = socket;
    this.account.backend = destination.backend;
    this.account.upstream = endpoint.address;
    this.plane.counters.upstreamAttempts += 1;
    const refuse = (): void => this.guard(() => this.refused(socket, endpoint));
    socket.on('error', () => refusals.add(refuse));
    socket.on('message', (message) => {
      receivedInTurn(socket);
      this.guard(() => this.received(message, endpoint));
    });
    // Before the first datagram is sent.
    socket.once('connect', () => this.guard(() => this.noteSource(socket, host)));
    try {
      socket.connect(port, host);
    } catch {
      // No socket is available: the datagram is lost, and the next one tries again.
      this.disconnect();
    }
    return this.socket;
  }

  private noteSource(socket: Socket, peer: string): void {
    const { address, port } = socket.address();
    this.plane.ownFlows.open({ from: { host: address, port }, to: undefined }, this, peer);
  }

  /** Returns the backend of the flow while it has endpoints; otherwise the next one by weight. */
  private reconsider(): Destination | undefined {
    const { listener } = this.client;
    const { layer4, endpoints: registry } = this.plane;
    const current = registry.get(this.destination.backend);
    if (current !== undefined && current.failure === undefined && !current.isEmpty)
      return { backend: this.destination.backend, endpoints: current };
    const { route, destination } = layer4.choose(listener.key, '', registry);
    if (typeof destination === 'string') return undefined;
    this.account.route = route;
    return destination;
  }

  private received(message: Buffer, endpoint: Endpoint): void {
    endpoint.connected();
    this.client.active();
    this.account.sent(message.length);
    this.drop(this.client.answer(message));
  }

  /** The kernel reports that nothing listens on the port, or that the host is unreachable. */
  private refused(socket: Socket, endpoint: Endpoint): void {
    if (this.socket !== socket) return;
    this.plane.counters.upstreamConnectFailures += 1;
    endpoint.connectFailed(this.plane.now());
    this.disconnect();
  }

  private disconnect(): void {
    const { socket } = this;
    this.socket = undefined;
    this.endpoint = undefined;
    if (socket === undefined) return;
    // Another flow may get the same local port.
    this.plane.ownFlows.leave(this);
    if (!this.isOver) this.arrive();
    socket.removeAllListeners().on('error', () => undefined);
    socket.close();
  }

  private drop(isSent: boolean): void {
    if (isSent) return;
    this.plane.quotas.reached('udp-queue');
    this.plane.counters.layer4.droppedDatagrams += 1;
  }

  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.plane.fault(error);
      this.end('backend-reset');
    }
  }
}
