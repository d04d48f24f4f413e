import { networkInterfaces } from 'node:os';
import { monotonicNow } from '../../time/clock.ts';
import { OwnConnections, type Ends, type Pass, type Passes } from '../layer4/own-connections.ts';
import { flowMemory } from '../proxy.ts';
import { plainPeer } from '../sockets/address.ts';
import type { PassMessage, PassScope } from './messages.ts';

/** Milliseconds for which the addresses of this machine are remembered. */
const refreshInterval = 10_000;
let own: ReadonlySet<string> = new Set();
let readAt = -Infinity;

/** Whether an address belongs to this machine. Only connections between such addresses can lead back to the data plane. */
function isOwn(host: string): boolean {
  if (host.startsWith('127.') || host === '::1') return true;
  if (monotonicNow() - readAt > refreshInterval) {
    readAt = monotonicNow();
    own = new Set(
      Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address)),
    );
  }
  return own.has(host);
}

/**
 * The connections of one worker. A connection that leads back to the data plane can arrive in another worker, so the main thread gets the
 * events of all connections between addresses of this machine.
 */
export class RelayedPasses implements Passes {
  private readonly scope: PassScope;
  private readonly post: (message: PassMessage) => void;
  private readonly numbers = new Map<Pass, number>();
  private readonly passes = new Map<number, Pass>();
  private last = 0;

  constructor(scope: PassScope, post: (message: PassMessage) => void) {
    this.scope = scope;
    this.post = post;
  }

  arrive(ends: Ends, pass: Pass): void {
    if (isOwn(plainPeer(ends.from.host))) this.tell(pass, { name: 'arrive', ends });
  }

  open(ends: Ends, pass: Pass, peer: string): void {
    if (isOwn(plainPeer(peer))) this.tell(pass, { name: 'open', ends });
  }

  leave(pass: Pass): void {
    const number = this.numbers.get(pass);
    if (number === undefined) return;
    this.tell(pass, { name: 'leave' });
    this.numbers.delete(pass);
    this.passes.delete(number);
  }

  /** The main thread has found that a pass leads back too often. */
  looped(number: number): void {
    this.passes.get(number)?.looped();
  }

  private tell(pass: Pass, event: PassMessage['event']): void {
    const number = this.numbers.get(pass) ?? (this.last += 1);
    this.numbers.set(pass, number);
    this.passes.set(number, pass);
    this.post({ type: 'pass', scope: this.scope, pass: number, event });
  }
}

/** The connections between addresses of this machine, of all workers. */
export class PassRelay {
  private readonly all: Readonly<Record<PassScope, OwnConnections>> = {
    connections: new OwnConnections(0),
    flows: new OwnConnections(flowMemory),
  };
  private readonly passes = new Map<string, { readonly scope: PassScope; readonly pass: Pass }>();
  private readonly looped: (worker: number, scope: PassScope, pass: number) => void;

  /** `looped` is called with a pass that leads back too often. */
  constructor(looped: (worker: number, scope: PassScope, pass: number) => void) {
    this.looped = looped;
  }

  receive(worker: number, { scope, pass: number, event }: PassMessage): void {
    const key = `${worker} ${scope} ${number}`;
    const all = this.all[scope];
    const pass = this.passes.get(key)?.pass ?? {
      cameFrom: undefined,
      looped: () => this.looped(worker, scope, number),
    };
    if (event.name === 'leave') {
      this.passes.delete(key);
      all.leave(pass);
      return;
    }
    this.passes.set(key, { scope, pass });
    all[event.name](event.ends, pass);
  }

  /** A worker has ended with all of its connections. */
  forget(worker: number): void {
    for (const [key, { scope, pass }] of this.passes) {
      if (!key.startsWith(`${worker} `)) continue;
      this.passes.delete(key);
      this.all[scope].leave(pass);
    }
  }
}
