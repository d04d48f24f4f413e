import { Readable } from 'node:stream';
import { decideBackend } from '../../core/routing/decision/decide.ts';
import { Buffered, standalone } from '../limits/buffered.ts';
import type { DataPlane } from '../data-plane.ts';
import type { ResponseReceiver, UpstreamExchange, UpstreamRequest } from '../messages/forwarder.ts';
import type { Mirror } from './mirror.ts';
import { Timer } from '../sockets/timer.ts';
import type { ClientIdentity } from '../upstream/upstream-identity.ts';

/** Maximum buffered body bytes of a copy whose backend is slower than the client. */
const pendingBytes = 1024 * 1024;

/** A request to be copied. Its body follows in pieces as it is read. */
export interface CopiedRequest extends Pick<UpstreamRequest, 'client' | 'method' | 'target' | 'fields' | 'needsHttp2'> {
  readonly hasBody: boolean;
  /** `namespace/name` of the Gateway that received it. */
  readonly gateway: string;
  /** The client certificate for backends over TLS. */
  readonly identity: ClientIdentity;
}

/**
 * A mirror copy of a request in progress. It never affects the request itself: the copy is aborted if its backend is
 * slow or gone, and the response is discarded (HTTPRequestMirrorFilter).
 */
export class Copy implements ResponseReceiver {
  private readonly client: string;
  private readonly body: Readable | undefined;
  /** Bytes that wait for a connection to the backend, and bytes that wait to be sent on it. */
  private readonly unread: Buffered;
  private readonly unsent: Buffered;
  private call: UpstreamExchange | undefined;
  private readonly timer: Timer;
  private readonly plane: DataPlane;
  private isOver = false;
  private bodyEnded: boolean;

  private constructor(plane: DataPlane, request: UpstreamRequest) {
    this.plane = plane;
    this.client = request.client;
    this.body = request.body;
    const spare = plane.limits.bufferedBytes / 2;
    this.unread = new Buffered(plane.quotas.buffered, request.client, spare);
    this.unsent = new Buffered(plane.quotas.buffered, request.client, spare);
    this.bodyEnded = request.body === undefined;
    this.timer = new Timer(plane.limits.stallTimeout, () => this.giveUp());
    this.call = plane.forwarder.forward({ ...request, sending: this.sending }, this);
    // Sending may already have exceeded the quota.
    if (this.isOver) this.call.abort();
  }

  /** Sends a copy to an endpoint of the mirror; `undefined` if there is none. */
  static send(
    plane: DataPlane,
    mirror: Mirror,
    { hasBody, gateway, identity, ...request }: CopiedRequest,
  ): Copy | undefined {
    const endpoints = decideBackend(mirror, (key) => plane.endpoints.get(key));
    const endpoint = typeof endpoints === 'string' ? undefined : endpoints.pick([], plane.now());
    const { buffered, mirrors } = plane.quotas;
    if (
      endpoint === undefined ||
      !buffered.hasRoom(request.client, plane.limits.bufferedBytes / 2) ||
      !mirrors.take(request.client)
    )
      return undefined;
    plane.counters.mirrored += 1;
    const body = hasBody ? new Readable({ read: () => copy.taken() }) : undefined;
    const copy: Copy = new Copy(plane, { ...request, upstream: endpoint.upstream(gateway, identity), body });
    return copy;
  }

  /** Adds the next piece of the body. */
  add(chunk: Buffer): void {
    if (this.bodyEnded || this.body === undefined) return;
    if (this.body.readableLength > pendingBytes) {
      this.plane.counters.limitsReached['mirror-body'] += 1;
      this.giveUp();
      return;
    }
    this.body.push(standalone(chunk));
    if (!this.unread.update(this.body.readableLength, chunk.length)) this.giveUp();
  }

  private readonly sending = (waiting: number, piece: number): void => {
    if (!this.unsent.update(waiting, piece)) this.giveUp();
  };

  private taken(): void {
    this.unread.update(this.body?.readableLength ?? 0);
  }

  end(): void {
    if (this.bodyEnded) return;
    this.bodyEnded = true;
    this.body?.push(null);
  }

  /** The rest of the body will not arrive. Aborts the copy, because an incomplete request must not look complete. */
  cut(): void {
    if (!this.bodyEnded) this.giveUp();
  }

  onConnected(): void {}

  onInformation(): void {}

  onHead(): void {}

  onData(): void {}

  onEnd(): void {
    this.finish();
  }

  onFailure(): void {
    this.bodyEnded = true;
    this.finish();
  }

  private giveUp(): void {
    this.bodyEnded = true;
    this.call?.abort();
    this.body?.destroy();
    this.finish();
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.timer.cancel();
    this.unread.close();
    this.unsent.close();
    this.plane.quotas.mirrors.release(this.client);
  }
}

/** Passes the pieces of a complete body to copies. */
export function replay(body: readonly Buffer[], copies: readonly Copy[]): void {
  for (const copy of copies) {
    for (const chunk of body) copy.add(chunk);
    copy.end();
  }
}
