import type { Socket } from 'node:net';
import type { ConfigKey, ListenerConfig } from '../../core/routing/config.ts';
import type { DataPlane } from '../data-plane.ts';
import { LinkedSet } from '../limits/linked-set.ts';
import { originOf } from '../proxy-protocol/origin.ts';
import { Layer4Connection } from './connection.ts';
import type { Arrival } from './connection.ts';
import { TlsDispatch } from './tls.ts';
import type { SecurePort } from './tls.ts';
import { eachInTurns } from '../../time/slices.ts';

const openPlace = Symbol('open');
const silentPlace = Symbol('silent');

/** The connections of one TCP port that are forwarded byte by byte. */
export class Layer4Port {
  private readonly plane: DataPlane;
  private readonly connections = new LinkedSet<Layer4Connection>(openPlace);
  /** Connections of TCP listeners whose client has not sent anything yet. */
  private readonly silent = new LinkedSet<Layer4Connection>(silentPlace);
  private listeners: ReadonlyMap<ConfigKey, ListenerConfig> = new Map();
  private tcp: ListenerConfig | undefined;
  private hasTls = false;
  /** The connections of TLS listeners. */
  readonly tls: TlsDispatch;

  constructor(plane: DataPlane, port: SecurePort) {
    this.plane = plane;
    this.tls = new TlsDispatch(plane, port, (arrival) => this.connection(arrival).start());
  }

  /** Replaces the listeners. Connections of removed listeners end within `drainTimeout`. */
  configure(listeners: readonly ListenerConfig[]): void {
    this.listeners = new Map(listeners.map((listener) => [listener.key, listener]));
    this.tcp = listeners.find(({ protocol }) => protocol === 'TCP');
    this.tls.port = listeners[0]?.port ?? 0;
    this.hasTls = listeners.some(({ protocol }) => protocol === 'TLS');
    const orphans = [...this.connections].filter((connection) => this.isOrphan(connection));
    if (orphans.length === 0) return;
    setTimeout(() => {
      void eachInTurns(orphans, (connection) => {
        if (this.isOrphan(connection)) connection.abort('cut');
      });
    }, this.plane.limits.drainTimeout).unref();
  }

  /** Whether every connection belongs to a TCPRoute, regardless of its first bytes. */
  get isTcp(): boolean {
    return this.tcp !== undefined;
  }

  /** Whether the server name in the ClientHello selects the listener of a TLS connection. */
  get isTls(): boolean {
    return this.hasTls;
  }

  /**
   * Ends the connection whose client has been silent longest since it was opened, of those that may be closed. Returns whether there was
   * one.
   */
  makeRoom(mayClose: (socket: Socket) => boolean): boolean {
    const silent = this.silent.findEarly(({ arrival }) => mayClose(arrival.socket));
    if (silent === undefined) return false;
    this.silent.delete(silent);
    silent.abort('evicted');
    return true;
  }

  /** Forwards a connection of the TCP listener. */
  acceptTcp(socket: Socket): void {
    if (this.tcp === undefined) {
      socket.destroy();
      return;
    }
    const connection = this.connection({
      socket,
      transport: 'tcp',
      origin: originOf(socket),
      listener: this.tcp,
      serverName: '',
      protocols: [],
    });
    this.silent.add(connection);
    socket.once('data', () => this.silent.delete(connection));
    // The `data` listener must not start the flow of bytes before there is a backend.
    socket.pause();
    connection.start();
  }

  /** Resets all remaining connections. */
  cut(): Promise<void> {
    return eachInTurns(this.connections, (connection) => connection.abort('cut'));
  }

  private connection(arrival: Arrival): Layer4Connection {
    const connection = new Layer4Connection(this.plane, arrival);
    this.connections.add(connection);
    arrival.socket.once('close', () => {
      this.connections.delete(connection);
      this.silent.delete(connection);
    });
    return connection;
  }

  private isOrphan({ arrival }: Layer4Connection): boolean {
    return !this.listeners.has(arrival.listener.key);
  }
}
