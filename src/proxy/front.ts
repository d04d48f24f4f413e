import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { ConfigKey, ListenerConfig } from '../core/routing/config.ts';
import { anyAddress } from './address.ts';
import type { Address } from './address.ts';
import { closeGently } from './connection.ts';
import type { Connection } from './connection.ts';
import type { DataPlane } from './data-plane.ts';
import type { Peer } from './forwarding-fields.ts';
import { Handshakes } from './handshakes.ts';
import { createHttp1Server } from './http1.ts';
import type { Http1Server } from './http1.ts';
import { createHttp2Server } from './http2.ts';
import type { Http2Server } from './http2.ts';
import { ListenerIndex } from '../core/routing/decision/listener-index.ts';
import { Layer4Port } from './layer4/port.ts';
import { LinkedSet } from './linked-set.ts';
import { peek } from './peek.ts';
import type { WireProtocol } from './peek.ts';
import { originOf, toldOrigin } from './proxy-protocol/origin.ts';
import { receiveHeader } from './proxy-protocol/receive.ts';
import { expectsHeader } from './proxy-protocol/settings.ts';
import { acceptedInTurn } from './read-in-turns.ts';
import { rawAnswer } from './reasons.ts';
import { TlsAcceptor } from './tls-acceptor.ts';
import type { Decrypted } from './tls-acceptor.ts';
import { loadCertificates } from './tls-termination.ts';
import type { CertificateSource, ListenerCertificates } from './tls-termination.ts';

/** What keeps a listener from working as configured, by its key. */
export type ListenerProblems = ReadonlyMap<ConfigKey, readonly string[]>;

/**
 * One port: accepts connections, finds out by their first bytes what they speak, and hands them to TLS termination
 * or the HTTP/1 server. Several listeners share it, told apart by hostname.
 */
export class Front {
  private readonly plane: DataPlane;
  private readonly server: Server;
  private readonly tls: TlsAcceptor;
  private readonly http1: Http1Server;
  private readonly http2: Http2Server;
  private readonly layer4: Layer4Port;
  private readonly sockets = new Set<Socket>();
  /** Those that have not shown yet what they speak. */
  private readonly silent = new LinkedSet<Socket>();
  /** Those without a request under way. */
  private readonly idle = new LinkedSet<Socket>();
  private readonly handshakes: Handshakes;
  /** Those that came in before there was a configuration to serve them with. */
  private waiting: Socket[] | undefined = [];
  private plain = new ListenerIndex();
  private secure = new ListenerIndex();
  /** Whether clients of the port may speak HTTP inside of TLS. */
  private servesHttps = false;
  private certificates: ReadonlyMap<ConfigKey, ListenerCertificates> = new Map();
  private retired = false;

  constructor(plane: DataPlane) {
    this.plane = plane;
    this.handshakes = new Handshakes(plane.limits.handshakes, () => plane.quotas.reached('tls-handshakes'));
    this.http1 = createHttp1Server(plane);
    this.http2 = createHttp2Server(plane);
    this.layer4 = new Layer4Port(plane, {
      handshakes: this.handshakes,
      listenerFor: (serverName) => this.secure.select(serverName),
      contextFor: (serverName) => this.contextFor(serverName),
      acceptHttps: (socket) => this.shakeHands(socket),
    });
    this.tls = new TlsAcceptor(plane, this.handshakes, {
      negotiation: { ALPNProtocols: ['h2', 'http/1.1'] },
      contextFor: (serverName) => this.contextFor(serverName),
      accepted: (decrypted) => this.acceptDecrypted(decrypted),
    });
    // Half-open, so that a client that closes its side early can be seen and told apart from one that is gone.
    this.server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
    this.server.maxConnections = plane.limits.connectionsPerPort;
    this.server.on('connection', (socket) => this.admit(socket)).on('drop', () => plane.quotas.reached('connections'));
  }

  /** Binds the port; fails with the system's error, such as EADDRINUSE. Connections wait for `configure`. */
  listen({ host, port }: Address): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      // Left to Node where it is any address: without IPv6 that is any one of IPv4.
      this.server.listen({ port, backlog, ...(host === anyAddress ? {} : { host }) }, () => {
        this.server.off('error', reject);
        // Accepting can fail for want of descriptors; that passes, and must not end the process.
        this.server.on('error', () => undefined);
        resolve();
      });
    });
  }

  /** Where the port really is, which matters where the system chose it. */
  get address(): Address | undefined {
    const bound = this.server.address();
    return bound === null || typeof bound === 'string' ? undefined : { host: bound.address, port: bound.port };
  }

  /** Puts these listeners in place of all earlier ones, at once. Requests under way go on as they began. */
  configure(listeners: readonly ListenerConfig[], source: CertificateSource): ListenerProblems {
    const problems = new Map<ConfigKey, readonly string[]>();
    const certificates = new Map<ConfigKey, ListenerCertificates>();
    const [plain, secure] = [new ListenerIndex(), new ListenerIndex()];
    for (const listener of listeners) {
      const standing = (isSecure(listener) ? secure : plain).add(listener);
      if (standing !== undefined) {
        problems.set(listener.key, [`${standing.key} already serves the same hostname on this port`]);
      } else if (terminatesTls(listener)) {
        const loaded = loadCertificates(listener, source);
        certificates.set(listener.key, loaded);
        if (loaded.problems.length > 0) problems.set(listener.key, loaded.problems);
      }
    }
    this.plain = plain;
    this.secure = secure;
    this.servesHttps = listeners.some(({ protocol }) => protocol === 'HTTPS');
    this.certificates = certificates;
    this.layer4.configure(listeners);
    // Without a server name Node asks nobody: what serves then is the listener for any name, if there is one.
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

  /** Ends each connection with its next answer, and goes on taking new ones. */
  retire(): void {
    this.retired = true;
  }

  /**
   * Takes no more connections and ends those that stand: each after the answer under way, idle ones after their next answer or
   * `idleGrace` milliseconds. What is left after `grace` milliseconds is cut off. Resolves when none is left.
   */
  async drain(grace: number, idleGrace = 0): Promise<void> {
    this.retire();
    this.server.close();
    // A connection that looks idle may hold a request that has come and is not read yet.
    await wholeTurn();
    for (const socket of this.waiting ?? []) socket.destroy();
    this.waiting = undefined;
    this.http2.drain();
    const idle = Math.min(idleGrace, grace);
    // A connection that is closed while its client sends the next request costs that request.
    if (idle > 0) await this.lastSocketClosed(idle);
    for (const socket of this.silent) socket.destroy();
    this.http1.closeIdle();
    await this.lastSocketClosed(grace - idle);
    this.layer4.cut();
    for (const socket of this.sockets) socket.destroy();
    await this.lastSocketClosed(grace);
    this.http1.close();
  }

  /** Resolves when no connection is left, or `patience` milliseconds are over. */
  private lastSocketClosed(patience: number): Promise<void> {
    if (this.sockets.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, patience);
      for (const socket of this.sockets) {
        socket.once('close', () => {
          if (this.sockets.size > 0) return;
          clearTimeout(timer);
          resolve();
        });
      }
    });
  }

  /** Takes a connection in, if there is room for it: in all, and for its client. */
  private admit(socket: Socket): void {
    acceptedInTurn();
    const { connections, clients } = this.plane.quotas;
    const client = originOf(socket).client.host;
    if (!clients.take(client)) {
      socket.destroy();
      return;
    }
    if (!connections.take()) {
      // One that has asked for nothing for longest makes room: a flood of them keeps nobody out who has something to ask.
      if (!this.makeRoom()) {
        clients.release(client);
        socket.destroy();
        return;
      }
      connections.exceed();
    }
    socket.once('close', () => {
      connections.release();
      clients.release(toldOrigin(socket)?.client.host ?? client);
    });
    this.accept(socket);
  }

  private makeRoom(): boolean {
    const unused = this.silent.first ?? this.idle.first;
    if (unused === undefined) return this.layer4.makeRoom();
    this.forget(unused);
    unused.destroy();
    return true;
  }

  /** The connection makes no room any more: it has a request under way, or is gone. */
  private forget(socket: Socket): void {
    this.silent.delete(socket);
    this.idle.delete(socket);
  }

  private accept(socket: Socket): void {
    const { counters } = this.plane;
    counters.connections += 1;
    counters.openConnections += 1;
    this.sockets.add(socket);
    // Whoever holds the connection learns of its end by other events; a reset at any moment must not end the process.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      counters.openConnections -= 1;
      this.sockets.delete(socket);
      this.forget(socket);
    });
    if (this.waiting === undefined) this.look(socket);
    else this.waiting.push(socket);
  }

  private look(socket: Socket): void {
    const { plane } = this;
    if (!expectsHeader(plane.proxyProtocol, originOf(socket).client.host)) {
      this.identify(socket);
      return;
    }
    this.silent.add(socket);
    receiveHeader(socket, plane, () => {
      this.silent.delete(socket);
      this.identify(socket);
    });
  }

  private identify(socket: Socket): void {
    if (this.layer4.isTcp) {
      this.layer4.acceptTcp(socket);
      return;
    }
    const { limits, quotas } = this.plane;
    this.silent.add(socket);
    peek(socket, { timeout: limits.firstByteTimeout, overdue: () => quotas.reached('first-byte-time') }, (protocol) => {
      this.silent.delete(socket);
      this.handOver(protocol, socket);
    });
  }

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
    this.idle.add(socket);
    this.tls.accept(socket);
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
    this.idle.add(socket);
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
      busy: () => void this.idle.delete(socket),
      idle: () => {
        this.idle.delete(socket);
        if (this.sockets.has(socket)) this.idle.add(socket);
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
 * Connections that the kernel keeps for a port until they are accepted, and no more than its own limit (net.core.somaxconn). Beyond it
 * new clients have to repeat their first packet, after a second or more; Node's default of 511 is a short burst of them.
 */
const backlog = 4_096;

/** Resolves when the event loop has looked at all sockets once more. */
export async function wholeTurn(): Promise<void> {
  // The first one may come before that.
  for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
}

function peerOf(socket: Socket, scheme: Peer['scheme']): Peer {
  return { address: originOf(socket).client.host, scheme };
}
