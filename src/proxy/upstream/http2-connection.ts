import { connect as startSession } from 'node:http2';
import type { ClientHttp2Session, ClientSessionOptions } from 'node:http2';
import type { Socket } from 'node:net';
import type { UpstreamFailure } from '../messages/forwarder.ts';
import type { Http2Call } from './http2-call.ts';
import type { ProxyLimits } from '../limits/limits.ts';

/** Callbacks of a connection; `ended` is called last, and once. */
export interface ConnectionEvents {
  /** A request of the connection is over. */
  done(call: Http2Call): void;
  /** The connection can take requests, or more of them. */
  hasRoom(): void;
  /** It takes no more requests; `failure` is set if it never took any. */
  ended(failure: UpstreamFailure | undefined): void;
}

/**
 * An HTTP/2 connection to a backend. It is ready after the backend has sent its settings, which prove that it speaks
 * HTTP/2 and limit the number of concurrent requests (RFC 9113 sections 3.4 and 5.1.2).
 */
export class Http2Connection {
  private readonly session: ClientHttp2Session;
  private readonly limits: ProxyLimits;
  private readonly events: ConnectionEvents;
  private readonly idleTimer: NodeJS.Timeout;
  isReady = false;
  private hasEnded = false;
  private streams = 0;
  /** Number of requests so far. */
  private taken = 0;

  /** `socket` is established. */
  constructor(socket: Socket, limits: ProxyLimits, events: ConnectionEvents) {
    this.limits = limits;
    this.events = events;
    this.session = startSession('http://backend', sessionOptions(socket, limits));
    this.session.setLocalWindowSize(4 * limits.streamWindow);
    const timer = setTimeout(() => this.session.destroy(new Error('no settings came')), limits.connectTimeout);
    this.idleTimer = setTimeout(() => this.closeIfIdle(), limits.idleTimeout).unref();
    this.session.once('remoteSettings', () => {
      clearTimeout(timer);
      this.isReady = true;
      events.hasRoom();
    });
    // A backend that has closed its side can neither update windows nor send a response.
    socket.once('end', () => socket.destroy());
    let failure: UpstreamFailure = 'connect';
    this.session.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code?.startsWith('ERR_HTTP2') === true) failure = 'protocol';
    });
    this.session.on('goaway', () => this.end('connect'));
    this.session.on('close', () => {
      clearTimeout(timer);
      clearTimeout(this.idleTimer);
      this.end(failure);
    });
  }

  /** Limit of concurrent requests, available once it is ready. */
  get capacity(): number {
    return this.session.remoteSettings.maxConcurrentStreams ?? Infinity;
  }

  get room(): number {
    if (!this.isReady || this.hasEnded || this.session.closed) return 0;
    return Math.min(this.capacity - this.streams, this.limits.requestsPerBackendConnection - this.taken);
  }

  take(call: Http2Call): void {
    this.streams += 1;
    this.taken += 1;
    call.begin(this.session, () => this.freed(call));
    // The number of stream identifiers is limited (RFC 9113 section 5.1.1).
    if (this.taken >= this.limits.requestsPerBackendConnection) this.close();
  }

  /** Takes no more requests, and closes after the current ones. */
  close(): void {
    this.end('connect');
    // Not earlier: some backends reject requests in transit after a client's GOAWAY.
    if (this.streams === 0) this.session.close();
  }

  destroy(): void {
    this.session.destroy();
  }

  private freed(call: Http2Call): void {
    this.streams -= 1;
    this.events.done(call);
    if (this.streams === 0) {
      this.idleTimer.refresh();
      if (this.hasEnded) this.session.close();
    }
    if (this.room > 0) this.events.hasRoom();
  }

  private closeIfIdle(): void {
    if (this.streams === 0) this.close();
  }

  private end(failure: UpstreamFailure): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.events.ended(this.taken > 0 ? undefined : failure);
  }
}

function sessionOptions(socket: Socket, limits: ProxyLimits): ClientSessionOptions {
  return {
    createConnection: () => socket,
    maxHeaderListPairs: 4 * limits.headerCount,
    // Stream windows limit the memory of a session; the default is too little for many slow clients.
    maxSessionMemory: 1_024,
    settings: { enablePush: false, initialWindowSize: limits.streamWindow, maxHeaderListSize: 2 * limits.headerBytes },
  };
}
