import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { ListenerConfig } from '../../core/routing/config.ts';
import { plainPeer } from '../sockets/address.ts';
import { Connector } from '../upstream/connector.ts';
import type { Attempt } from '../upstream/connector.ts';
import type { DataPlane } from '../data-plane.ts';
import type { Endpoint } from '../upstream/endpoints.ts';
import { identityOf } from '../upstream/upstream-identity.ts';
import type { Upstream } from '../messages/forwarder.ts';
import type { Address } from '../sockets/address.ts';
import type { Origin } from '../proxy-protocol/origin.ts';
import { versionFor } from '../proxy-protocol/settings.ts';
import { writeProxyHeader } from '../proxy-protocol/write.ts';
import { readBuffer, readPiece } from '../limits/read-buffer.ts';
import { readInto } from '../sockets/direct.ts';
import { Relay } from '../sockets/relay.ts';
import type { RelayFailure } from '../sockets/relay.ts';
import { watchForReset } from '../sockets/reset-probe.ts';
import { reset } from '../sockets/reset.ts';
import { Account } from './account.ts';
import type { Pass } from './own-connections.ts';
import { closeGently } from '../messages/connection.ts';
import type { TraceAnswer } from '../messages/tracing.ts';
import { FirstBytes, tracePatience } from './first-bytes.ts';
import type { Layer4Reason } from './reasons.ts';
import type { Destination } from './routes.ts';
import { reportOf, traceIn } from './trace.ts';
import type { Recognized } from './trace.ts';

/** A client's connection that is forwarded byte by byte. */
export interface Arrival {
  /** The socket with the client's bytes; for terminated TLS it is the decrypted socket. */
  readonly socket: Socket;
  readonly transport: 'tcp' | 'tls';
  readonly origin: Origin;
  readonly listener: ListenerConfig;
  /** The server name of the TLS handshake, in lower case; `''` if there is none. */
  readonly serverName: string;
  /** ALPN protocols offered to backends over TLS: those negotiated with the client (RFC 7301). */
  readonly protocols: readonly string[];
  /** Of a connection whose ClientHello is a trace: makes the answer. Nothing is forwarded. */
  readonly trace?: TraceAnswer;
}

/**
 * One connection of a TCP or TLS listener. Selects a backend by weight, tries its endpoints, and joins client and
 * backend. If no backend is available, the client's connection is reset.
 */
export class Layer4Connection implements Pass {
  readonly arrival: Arrival;
  private readonly plane: DataPlane;
  private readonly account: Account;
  private readonly tried: Endpoint[] = [];
  private connecting: Attempt | undefined;
  private relay: Relay | undefined;
  /** While it is undecided whether the client sends a trace. */
  private first: FirstBytes | undefined;
  private trace: TraceAnswer | undefined;
  /** Why no backend gets the connection, while the client may still send a trace. */
  private failure: Layer4Reason | undefined;
  private isAnswered = false;
  cameFrom: Pass | undefined;
  private isOver = false;

  constructor(plane: DataPlane, arrival: Arrival) {
    this.plane = plane;
    this.arrival = arrival;
    this.trace = arrival.trace;
    this.account = new Account(plane, { ...arrival, client: arrival.origin.client.host });
  }

  start(): void {
    const { socket } = this.arrival;
    socket.on('error', () => undefined).once('close', () => this.clientClosed());
    if (socket.destroyed) {
      this.clientClosed();
      return;
    }
    watchForReset(socket);
    this.plane.ownConnections.arrive({ from: remoteOf(socket), to: localOf(socket) }, this);
    // Afterwards, because a spent trace among the early bytes ends the connection at once.
    if (!this.isOver && this.arrival.transport === 'tcp' && this.plane.tracing.isOn) this.lookForTrace();
    // If this process itself opened the connection, its other end emits `connect` in the same turn of the event loop, which reveals a loop.
    setImmediate(() => {
      this.hold();
      if (!this.isOver) this.choose();
    });
  }

  /** Until there is a backend, which can take seconds, the bytes of the client wait in the kernel. A trace is among the first ones. */
  private hold(): void {
    if (this.isOver || this.relay !== undefined || this.first?.isUndecided === true) return;
    const { socket } = this.arrival;
    // Otherwise its stream would read on while it is paused.
    readInto(socket, readBuffer, (length) => socket.push(Buffer.from(readPiece(length))));
    socket.pause();
  }

  looped(): void {
    this.abort('loop-detected');
  }

  /** Resets client and backend. */
  abort(reason: Layer4Reason): void {
    this.relay?.abort();
    this.end(reason);
  }

  /** The first bytes are read while the backend is dialed, so that nothing waits for a client that does not send first. */
  private lookForTrace(): void {
    const { socket, listener } = this.arrival;
    const { tracing } = this.plane;
    const connection = { protocol: 'TCP', port: listener.port, serverName: '' } as const;
    this.first = new FirstBytes(socket, {
      isTrace: (bytes) => {
        const trace = traceIn(tracing, connection, bytes);
        if (trace !== undefined) this.traced(trace);
        return trace !== undefined;
      },
      plain: () => {
        if (this.failure !== undefined) this.end(this.failure);
        // Not while its stream takes these bytes.
        setImmediate(() => this.hold());
      },
    });
  }

  private traced(trace: Exclude<Recognized, undefined>): void {
    if (this.isOver) return;
    if (trace === 'spent') {
      this.abort('trace');
      return;
    }
    this.trace = trace;
    if (this.relay !== undefined || this.failure !== undefined) this.answer(trace, this.failure);
  }

  /** Sends the decision to the client, and closes the connection. */
  private answer(trace: TraceAnswer, reason: Layer4Reason | undefined): void {
    const { socket, listener } = this.arrival;
    const { route, backend, upstream } = this.account;
    this.isAnswered = true;
    closeGently(socket, trace(reportOf({ listener, route, backend, upstream }, reason)));
    // A relay ends when the client has closed its side.
    if (this.relay === undefined) this.end('trace');
  }

  /** No backend gets the connection. A client that sends a trace gets to know why. */
  private fail(reason: Layer4Reason): void {
    if (this.trace !== undefined) this.answer(this.trace, reason);
    else if (this.first?.isUndecided === true) {
      this.failure = reason;
      setTimeout(() => this.end(reason), tracePatience).unref();
    } else this.end(reason);
  }

  private choose(): void {
    const { listener, serverName } = this.arrival;
    const { layer4, endpoints } = this.plane;
    const { route, destination } = layer4.choose(listener.key, serverName, endpoints);
    this.account.route = route;
    if (typeof destination === 'string') {
      this.fail(destination);
      return;
    }
    this.account.backend = destination.backend;
    this.connect(destination);
  }

  private connect(destination: Destination): void {
    const { limits, counters } = this.plane;
    const now = this.plane.now();
    const endpoint = this.tried.length < limits.attempts ? destination.endpoints.pick(this.tried, now) : undefined;
    if (endpoint === undefined) {
      this.fail('connect-failed');
      return;
    }
    this.tried.push(endpoint);
    this.account.upstream = endpoint.address;
    counters.upstreamAttempts += 1;
    const options = {
      protocols: this.arrival.protocols,
      timeout: limits.connectTimeout,
      contexts: this.plane.quotas.contexts,
    };
    const connector = new Connector(this.upstreamOf(endpoint), options, {
      plain: (address) => this.begin(connect({ ...address, allowHalfOpen: true })),
      carrier: (address) => this.begin(connect(address)),
    });
    this.connecting = connector.connect({
      established: (backend) => this.established(backend, endpoint),
      failed: () => {
        if (this.isOver) return;
        counters.upstreamConnectFailures += 1;
        endpoint.connectFailed(this.plane.now());
        this.connect(destination);
      },
    });
  }

  /** Sends the PROXY header if it is configured, and records the connection. */
  private begin(socket: Socket): Socket {
    const { listener, origin } = this.arrival;
    const version = versionFor(this.plane.proxyProtocol, listener.port);
    // Before TLS, as the PROXY protocol requires.
    if (version !== undefined) socket.write(writeProxyHeader(version, origin));
    return socket.once('connect', () => {
      if (this.isOver) return;
      const to = remoteOf(socket);
      this.plane.ownConnections.open({ from: localOf(socket), to }, this, to.host);
    });
  }

  private upstreamOf(endpoint: Endpoint): Upstream {
    const { listener } = this.arrival;
    // Passed-through bytes are already encrypted. A BackendTLSPolicy would encrypt them twice.
    if (listener.tlsMode === 'Passthrough') return endpoint.plain;
    return endpoint.upstream(listener.gateway, identityOf(this.plane, listener));
  }

  private established(backend: Socket, endpoint: Endpoint): void {
    endpoint.connected();
    this.connecting = undefined;
    if (this.isOver) {
      reset(backend);
      return;
    }
    if (this.trace !== undefined) {
      backend.destroy();
      this.answer(this.trace, undefined);
      return;
    }
    const { socket } = this.arrival;
    const { tcpIdleTimeout, tcpHalfClosedTimeout } = this.plane.limits;
    this.relay = new Relay(
      socket,
      backend,
      { idle: tcpIdleTimeout, halfClosed: tcpHalfClosedTimeout },
      {
        received: (bytes) => this.account.received(bytes),
        sent: (bytes) => this.account.sent(bytes),
        buffered: this.plane.quotas.buffered,
        address: this.arrival.origin.client.host,
        mayReadDirectly: () => this.first?.isUndecided !== true,
        ended: (failure) => this.relayEnded(failure),
      },
    );
  }

  private relayEnded(failure: RelayFailure | undefined): void {
    if (failure === 'idle' || failure === 'halfClosed') {
      this.plane.quotas.reached(failure === 'idle' ? 'tcp-idle' : 'tcp-half-closed');
      this.end('idle');
    } else this.end(failure);
  }

  private clientClosed(): void {
    // A relay handles the close of its sides itself.
    if (this.relay === undefined) this.end('client-reset');
  }

  private end(reason: Layer4Reason | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    this.account.close(this.isAnswered ? 'trace' : (this.failure ?? reason));
    this.plane.ownConnections.leave(this);
    this.connecting?.destroy();
    if (reason !== undefined && !this.isAnswered) reset(this.arrival.socket);
  }
}

function localOf(socket: Socket): Address {
  return { host: plainPeer(socket.localAddress), port: socket.localPort ?? 0 };
}

function remoteOf(socket: Socket): Address {
  return { host: plainPeer(socket.remoteAddress), port: socket.remotePort ?? 0 };
}
