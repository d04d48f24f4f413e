import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { ConfigKey, ListenerConfig } from '../core/routing/config.ts';
import { anyAddress } from './sockets/address.ts';
import { afterClosing } from './sockets/after-closing.ts';
import type { Address } from './sockets/address.ts';
import { closeGently } from './messages/connection.ts';
import type { Connection } from './messages/connection.ts';
import type { DataPlane } from './data-plane.ts';
import type { Peer } from './messages/forwarding-fields.ts';
import { CertificateCount } from './listen/certificate-count.ts';
import { Handshakes } from './listen/handshakes.ts';
import { createHttp1Server } from './http1/http1.ts';
import type { Http1Server } from './http1/http1.ts';
import { createHttp2Server } from './http2/http2.ts';
import type { Http2Server } from './http2/http2.ts';
import { ListenerIndex } from '../core/routing/decision/listener-index.ts';
import { Layer4Port } from './layer4/port.ts';
import { LinkedSet } from './limits/linked-set.ts';
import { InputTurns } from './listen/input-turns.ts';
import { Newcomers, type Newcomer } from './listen/newcomers.ts';
import { peek } from './listen/peek.ts';
import type { WireProtocol } from './listen/peek.ts';
import { clientHostOf, headerOrigin } from './proxy-protocol/origin.ts';
import { receiveHeader } from './proxy-protocol/receive.ts';
import { expectsHeader } from './proxy-protocol/settings.ts';
import { acceptedInTurn, isAccepting } from '../time/accepting.ts';
import { rawAnswer } from './messages/reasons.ts';
import { TlsAcceptor } from './listen/tls-acceptor.ts';
import type { Decrypted } from './listen/tls-acceptor.ts';
import { UnusedConnections } from './listen/unused-connections.ts';
import type { Identities, ListenerCertificates } from './listen/identities.ts';
import { monotonicNow } from '../time/clock.ts';
import { eachInTurns } from '../time/slices.ts';

const openPlace = Symbol('open');

/** The problems of listeners that do not work as configured, by key. */
export type ListenerProblems = ReadonlyMap<ConfigKey, readonly string[]>;

/**
 * One port. Accepts connections, detects their protocol by the first bytes, and passes them to TLS termination or the
 * HTTP servers. Several listeners share it and are selected by hostname.
 */
export class Front {
  private readonly plane: DataPlane;
  private readonly server: Server;
  private readonly tls: TlsAcceptor;
  private readonly http1: Http1Server;
  private readonly http2: Http2Server;
  private readonly layer4: Layer4Port;
  /** The open connections. */
  private readonly sockets = new LinkedSet<Socket>(openPlace);
  /** Called when no connection is left. Each `drain` waits for that. */
  private readonly emptied: (() => void)[] = [];
  private readonly unused = new UnusedConnections();
  /** Connections that need the room of others. */
  private readonly newcomers = new Newcomers((newcomer) => this.replaceFor(newcomer));
  private readonly handshakes: Handshakes;
  /** Connections that arrived before the first configuration. */
  private waiting: Socket[] | undefined = [];
  private plain = new ListenerIndex();
  private secure = new ListenerIndex();
  /** Whether the port has HTTPS listeners. */
  private servesHttps = false;
  private certificates: ReadonlyMap<ConfigKey, ListenerCertificates> = new Map();
  private retired = false;

  constructor(plane: DataPlane) {
    this.plane = plane;
    const certificates = new CertificateCount((socket) => this.count(socket, () => undefined));
    this.handshakes = new Handshakes(plane.quotas.handshakes, certificates, clientHostOf);
    const turns = new InputTurns(plane.now);
    this.http1 = createHttp1Server(plane, turns);
    this.http2 = createHttp2Server(plane, turns);
    this.layer4 = new Layer4Port(plane, {
      handshakes: this.handshakes,
      listenerFor: (serverName) => this.secure.select(serverName),
      contextFor: (serverName) => this.contextFor(serverName),
      acceptHttps: (socket) => this.shakeHands(socket),
      countTls: (socket, begin) => this.count(socket, begin),
    });
    this.tls = new TlsAcceptor(plane, this.handshakes, {
      negotiation: { ALPNProtocols: ['h2', 'http/1.1'] },
      contextFor: (serverName) => this.contextFor(serverName),
      accepted: (decrypted) => this.acceptDecrypted(decrypted),
    });
    // Half-open, to distinguish a client that closes its side early from one that is gone.
    this.server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
    this.server.maxConnections = plane.limits.connectionsPerPort;
    this.server.on('connection', (socket) => this.admit(socket)).on('drop', () => plane.quotas.reached('connections'));
  }

  /** Binds the port. Rejects with the system's error, such as EADDRINUSE. Connections wait for `configure`. */
  listen({ host, port }: Address): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        this.stopTimers();
        reject(error);
      };
      this.server.once('error', fail);
      // For any address, Node chooses the host: without IPv6 it is any IPv4 address.
      const reusePort = this.plane.sharesPorts === true;
      this.server.listen({ port, backlog, reusePort, ...(host === anyAddress ? {} : { host }) }, () => {
        this.server.off('error', fail);
        // Accepting can fail temporarily for lack of file descriptors, which must not end the process.
        this.server.on('error', () => undefined);
        resolve();
      });
    });
  }

  /** The actual address, including a port chosen by the system. */
  get address(): Address | undefined {
    const bound = this.server.address();
    return bound === null || typeof bound === 'string' ? undefined : { host: bound.address, port: bound.port };
  }

  /** Replaces all listeners at once. Requests in progress are not affected. */
  configure(listeners: readonly ListenerConfig[], identities: Identities): ListenerProblems {
    const problems = new Map<ConfigKey, readonly string[]>();
    const certificates = new Map<ConfigKey, ListenerCertificates>();
    const [plain, secure] = [new ListenerIndex(), new ListenerIndex()];
    for (const listener of listeners) {
      const standing = (isSecure(listener) ? secure : plain).add(listener);
      if (standing !== undefined) {
        problems.set(listener.key, [`${standing.key} already serves the same hostname on this port`]);
      } else if (terminatesTls(listener)) {
        const loaded = identities.of(listener);
        certificates.set(listener.key, loaded);
        if (loaded.problems.length > 0) problems.set(listener.key, loaded.problems);
      }
    }
    this.plain = plain;
    this.secure = secure;
    this.servesHttps = listeners.some(({ protocol }) => protocol === 'HTTPS');
    this.certificates = certificates;
    this.layer4.configure(listeners);
    // Node calls no SNI callback without a server name. The default is the listener for any name, if there is one.
    const fallback = secure.select('');
    // Validation is the same for all listeners of a port (Gateway.spec.tls.frontend).
    const validation = listeners.find(({ clientValidation }) => clientValidation !== undefined)?.clientValidation;
    const first = fallback && certificates.get(fallback.key)?.first;
    for (const acceptor of [this.tls, this.layer4.tls]) acceptor.configure(first, validation);
    const waiting = this.waiting ?? [];
    this.waiting = undefined;
    for (const socket of waiting) this.look(socket);
    return problems;
  }

  /** Ends each connection with its next response, but still accepts new ones. */
  retire(): void {
    this.retired = true;
  }

  /**
   * Stops accepting and ends all connections: busy ones after the current response, idle ones after their next response
   * or `idleGrace` milliseconds. The rest is closed after `grace` milliseconds. Resolves when no connection is left. Another call can
   * shorten the time.
   */
  async drain(grace: number, idleGrace = 0): Promise<void> {
    this.retire();
    this.server.close();
    // A connection that seems idle may have an unread request.
    await wholeTurn();
    for (const socket of this.waiting ?? []) socket.destroy();
    this.waiting = undefined;
    await this.http2.drain();
    const idle = Math.min(idleGrace, grace);
    // Closing a connection while its client sends the next request would lose that request.
    if (idle > 0) await this.lastSocketClosed(idle);
    await eachInTurns(this.unused.silent, (socket) => socket.destroy());
    await this.http1.closeIdle();
    await this.lastSocketClosed(grace - idle);
    await this.layer4.cut();
    await eachInTurns(this.sockets, (socket) => socket.destroy());
    await this.lastSocketClosed(grace);
    await afterClosing.done();
    this.stopTimers();
  }

  private stopTimers(): void {
    this.http1.close();
    this.http2.close();
  }

  /** Resolves when no connection is left, or after `patience` milliseconds. */
  private lastSocketClosed(patience: number): Promise<void> {
    if (this.sockets.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, patience);
      this.emptied.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Accepts a connection within the limits: in total, and per client. */
  private admit(socket: Socket): void {
    acceptedInTurn();
    const client = clientHostOf(socket);
    if (!this.plane.quotas.clients.take(client)) {
      socket.destroy();
      return;
    }
    this.register(socket, client);
    this.count(socket, () => this.begin(socket));
  }

  /** Counts a connection within the limit of all of them. `begin` is called when there is room, otherwise the connection ends. */
  private count(socket: Socket, begin: () => void): void {
    if (socket.destroyed) return;
    const { connections } = this.plane.quotas;
    const client = clientHostOf(socket);
    const hasRoom = connections.take(client);
    if (!hasRoom) connections.exceed(client);
    socket.once('close', () => connections.release(headerOrigin(socket)?.client.host ?? client));
    if (hasRoom) begin();
    else this.newcomers.add({ socket, begin });
  }

  /** Closes a connection without a request for a new one beyond the limit. If there is none, closes the new one. */
  private replaceFor({ socket, begin }: Newcomer): void {
    if (socket.destroyed) return;
    const { connections } = this.plane.quotas;
    const client = clientHostOf(socket);
    if (connections.isExceededBy(client) && !this.makeRoom(client)) socket.destroy();
    else begin();
  }

  /**
   * Closes the connection that has been without a request for longest, so a flood of idle ones does not keep out active clients. A client
   * with many connections does not displace those of clients with fewer.
   */
  private makeRoom(client: string): boolean {
    const { limits, quotas } = this.plane;
    const held = quotas.connections.heldBy(client);
    const mayClose = (socket: Socket): boolean =>
      held <= limits.connections * few || quotas.connections.heldBy(clientHostOf(socket)) >= held;
    const unused = this.unused.longest(mayClose);
    if (unused === undefined) return this.layer4.makeRoom(mayClose);
    this.unused.delete(unused);
    unused.destroy();
    return true;
  }

  /** The connection may be closed to make room. */
  private rest(socket: Socket): void {
    if (this.sockets.has(socket)) this.unused.rest(socket);
  }

  /** `client` is the address that counts as the client's until there is a PROXY header. */
  private register(socket: Socket, client: string): void {
    const {
      counters,
      quotas: { clients },
    } = this.plane;
    counters.connections += 1;
    counters.openConnections += 1;
    this.sockets.add(socket);
    // The owner of the connection gets its end from other events; a reset at any moment must not end the process.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clients.release(headerOrigin(socket)?.client.host ?? client);
      counters.openConnections -= 1;
      this.unused.delete(socket);
      this.sockets.delete(socket);
      if (this.sockets.size === 0) for (const emptied of this.emptied) emptied();
    });
  }

  private begin(socket: Socket): void {
    if (this.waiting === undefined) this.look(socket);
    else this.waiting.push(socket);
  }

  private look(socket: Socket): void {
    const { plane } = this;
    if (!expectsHeader(plane.proxyProtocol, clientHostOf(socket))) {
      this.identify(socket);
      return;
    }
    this.unused.awaitFirstBytes(socket);
    receiveHeader(socket, plane, () => {
      this.unused.delete(socket);
      this.identify(socket);
    });
  }

  private identify(socket: Socket): void {
    if (this.layer4.isTcp) {
      this.layer4.acceptTcp(socket);
      return;
    }
    const { limits, quotas } = this.plane;
    this.unused.awaitFirstBytes(socket);
    peek(socket, { timeout: limits.firstByteTimeout, overdue: () => quotas.reached('first-byte-time') }, this.detected);
  }

  private readonly detected = (protocol: WireProtocol, socket: Socket): void => {
    this.unused.delete(socket);
    this.handOver(protocol, socket);
  };

  private handOver(protocol: WireProtocol, socket: Socket): void {
    switch (protocol) {
      case 'tls':
        if (this.layer4.isTls) this.layer4.tls.accept(socket);
        else if (this.secure.isEmpty) socket.destroy();
        else this.shakeHands(socket);
        return;
      case 'http2':
        if (this.plain.isEmpty && !this.secure.isEmpty) socket.destroy();
        else this.http2.accept(socket, this.plainConnection(socket));
        return;
      case 'http1':
        if (!this.plain.isEmpty || this.secure.isEmpty) this.http1.accept(socket, this.plainConnection(socket));
        else if (this.servesHttps) closeGently(socket, rawAnswer('plain-http'));
        else socket.destroy();
    }
  }

  private shakeHands(socket: Socket): void {
    // A connection with TLS counts twice: it takes about 64 KiB of memory, most of it in OpenSSL, and one without TLS a fifth of that.
    this.count(socket, () => {
      this.rest(socket);
      this.tls.accept(socket);
    });
  }

  private acceptDecrypted({ socket, below, serverName }: Decrypted): void {
    const chosen = this.secure.select(serverName);
    // The listener may have changed since the handshake began.
    if (chosen?.protocol !== 'HTTPS') {
      socket.destroy();
      return;
    }
    const server = socket.alpnProtocol === 'h2' ? this.http2 : this.http1;
    server.accept(socket, this.secureConnection(below, chosen));
  }

  private plainConnection(socket: Socket): Connection {
    this.rest(socket);
    return {
      ...this.useOf(socket),
      peer: peerOf(socket, 'http'),
      listenerFor: (host) => this.plain.listenerFor(host),
      isDraining: () => this.retired,
    };
  }

  /** `socket` carries TLS. */
  private secureConnection(socket: Socket, chosen: ListenerConfig): Connection {
    return {
      ...this.useOf(socket),
      peer: peerOf(socket, 'https'),
      listenerFor: (host) => this.secure.listenerFor(host, chosen),
      isDraining: () => this.retired || !this.secure.has(chosen),
    };
  }

  private useOf(socket: Socket): Pick<Connection, 'busy' | 'idle'> {
    return {
      busy: () => this.unused.use(socket),
      idle: () => {
        if (!socket.destroyed) this.unused.rest(socket);
      },
    };
  }

  private contextFor(serverName: string): ReturnType<ListenerCertificates['contextFor']> {
    const listener = this.secure.select(serverName);
    return listener === undefined ? undefined : this.certificates.get(listener.key)?.contextFor(serverName);
  }
}

/** Whether connections to a listener begin with a TLS handshake. */
function isSecure({ protocol }: ListenerConfig): boolean {
  return protocol === 'HTTPS' || protocol === 'TLS';
}

function terminatesTls({ protocol, tlsMode }: ListenerConfig): boolean {
  return protocol === 'HTTPS' || (protocol === 'TLS' && tlsMode === 'Terminate');
}

/**
 * Length of the kernel's accept queue of a port, subject to its own limit (net.core.somaxconn). Beyond it, new clients
 * must repeat their first packet, after a second or more. Node's default of 511 is too small for bursts.
 */
const backlog = 4_096;

/** A client that holds up to this part of all connections has few. */
const few = 1 / 64;

/** Milliseconds for which a closing data plane accepts connections that were established before. */
const longestAccepting = 2_000;

/**
 * Resolves when this thread has accepted the established connections in the queues of its ports, or after two seconds if more keep
 * arriving. Node accepts one per turn of the event loop, and closing a port resets the rest.
 */
export async function queuesAccepted(): Promise<void> {
  const end = monotonicNow() + longestAccepting;
  await wholeTurn();
  while (isAccepting() && monotonicNow() < end) await wholeTurn();
}

/** Resolves after the event loop has polled all sockets once more. */
async function wholeTurn(): Promise<void> {
  // The first immediate may run before the poll phase.
  for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
}

function peerOf(socket: Socket, scheme: Peer['scheme']): Peer {
  return { address: clientHostOf(socket), scheme };
}
