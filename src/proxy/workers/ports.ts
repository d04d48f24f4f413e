import { createServer } from 'node:net';
import type { ConfigKey, ListenerConfig } from '../../core/routing/config.ts';
import { bindFailure, bindingsOf, type Bind, type Binding } from '../bindings.ts';
import { usableDatagrams } from '../layer4/udp-port.ts';
import type { ConfigProblem } from '../proxy.ts';
import { anyAddress } from '../sockets/address.ts';
import type { Address } from '../sockets/address.ts';

/** An address that the workers listen on. */
interface Port {
  readonly transport: Binding['transport'];
  /** With the port that the system has chosen, if port 0 was requested. */
  readonly address: Address;
  /** The only worker that serves a UDP port. Datagrams of one flow must reach the same worker, also if others end. */
  readonly owner: number;
}

/** The addresses that the workers of a data plane share. */
export class SharedPorts {
  private readonly bind: Bind;
  private readonly workers: number;
  private readonly ports = new Map<string, Port>();
  /** UDP ports that were removed. Their owners have them bound until the flows have ended, and use them again. */
  private readonly formerDatagrams = new Map<string, Port>();
  private bindings: ReadonlyMap<string, Binding> = new Map();
  private portsOf: ReadonlyMap<ConfigKey, readonly Port[]> = new Map();
  private failures: ReadonlyMap<string, string> = new Map();

  constructor(bind: Bind, workers: number) {
    this.bind = bind;
    this.workers = workers;
  }

  /**
   * Finds out which addresses of listeners can be bound. The workers' sockets share each port, which would also allow another process to
   * share it: a socket that does not share detects that.
   */
  async update(listeners: ReadonlyMap<ConfigKey, ListenerConfig>): Promise<void> {
    const bindings = bindingsOf(listeners, this.bind);
    const failures = new Map<string, string>();
    for (const [name, port] of this.ports) {
      if (bindings.has(name)) continue;
      this.ports.delete(name);
      if (port.transport === 'udp') this.formerDatagrams.set(name, port);
    }
    for (const [name, { address, transport }] of bindings) {
      if (this.ports.has(name)) continue;
      const former = this.formerDatagrams.get(name);
      if (former !== undefined) {
        this.ports.set(name, former);
        continue;
      }
      try {
        const usable =
          transport === 'udp' ? await usableDatagrams(address.host, address.port) : await usableStream(address);
        this.ports.set(name, { transport, address: usable, owner: this.nextOwner() });
      } catch (error) {
        failures.set(name, bindFailure(name, error));
      }
    }
    const portsOf = new Map<ConfigKey, Port[]>();
    for (const [name, { listeners: ofPort }] of bindings) {
      const port = this.ports.get(name);
      if (port === undefined) continue;
      for (const { key } of ofPort) portsOf.set(key, [...(portsOf.get(key) ?? []), port]);
    }
    this.bindings = bindings;
    this.portsOf = portsOf;
    this.failures = failures;
  }

  /** Returns a function that undoes later updates. */
  mark(): () => void {
    const { bindings, portsOf, failures } = this;
    const ports = [...this.ports];
    return () => {
      this.ports.clear();
      for (const [name, port] of ports) this.ports.set(name, port);
      this.bindings = bindings;
      this.portsOf = portsOf;
      this.failures = failures;
    };
  }

  /** Whether an address could not be bound. It may be free now. */
  get hasFailures(): boolean {
    return this.failures.size > 0;
  }

  /** The addresses of a listener, or those that one worker binds. */
  addressesOf(listener: ConfigKey, worker?: number): readonly Address[] {
    const ports = this.portsOf.get(listener) ?? [];
    const here = ports.filter(
      ({ transport, owner }) => worker === undefined || transport === 'tcp' || owner === worker,
    );
    return here.map(({ address }) => address);
  }

  /** The listeners whose address cannot be bound. */
  problems(): readonly ConfigProblem[] {
    return [...this.failures].flatMap(([name, message]) =>
      (this.bindings.get(name)?.listeners ?? []).map(({ key }) => ({ key, message, isWorthRetry: true as const })),
    );
  }

  /** The worker with the fewest UDP ports. */
  private nextOwner(): number {
    const counts = Array.from({ length: this.workers }, () => 0);
    for (const { transport, owner } of this.ports.values())
      if (transport === 'udp') counts[owner] = (counts[owner] ?? 0) + 1;
    return counts.indexOf(Math.min(...counts));
  }
}

async function usableStream({ host, port }: Address): Promise<Address> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === anyAddress ? {} : { host }) }, resolve);
  });
  const bound = server.address();
  await new Promise((closed) => server.close(closed));
  if (bound === null || typeof bound === 'string') throw new Error('the port has no address');
  return { host: bound.address, port: bound.port };
}
