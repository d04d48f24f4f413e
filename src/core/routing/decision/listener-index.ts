import { isReserved, type ListenerConfig } from '../config.ts';

/** Listeners of one protocol on one port, found by the host of a request or the server name of a handshake. */
export class ListenerIndex {
  private readonly byHostname = new Map<string, ListenerConfig>();

  /** Puts a listener in, or says which one already stands for the same hostname: the first one stays. */
  add(listener: ListenerConfig): ListenerConfig | undefined {
    const hostname = listener.hostname ?? '';
    const standing = this.byHostname.get(hostname);
    if (standing === undefined) this.byHostname.set(hostname, listener);
    return standing;
  }

  /**
   * The one listener that serves a host (lower case): exact hostname, then the longest wildcard, then none. It alone
   * serves it, whatever its routes (listener isolation). `undefined` where that listener only reserves the hostname.
   */
  select(host: string): ListenerConfig | undefined {
    const found = this.find(host);
    return found === undefined || isReserved(found) ? undefined : found;
  }

  private find(host: string): ListenerConfig | undefined {
    const exact = this.byHostname.get(host);
    if (exact !== undefined && host !== '') return exact;
    for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
      const wildcard = this.byHostname.get(`*${host.slice(dot)}`);
      if (wildcard !== undefined) return wildcard;
    }
    return this.byHostname.get('');
  }

  /**
   * The listener that serves a host. `connection` is the listener that a TLS connection was opened for by its server name:
   * hosts of other listeners must not be served on it (421, Gateway API Listener.hostname).
   */
  listenerFor(host: string, connection?: ListenerConfig): ListenerConfig | 'no-listener' | 'misdirected' {
    const found = this.find(host);
    if (found === undefined) return 'no-listener';
    if (connection !== undefined && connection.key !== found.key) return 'misdirected';
    return isReserved(found) ? 'no-listener' : found;
  }

  get isEmpty(): boolean {
    return this.byHostname.size === 0;
  }

  has(listener: ListenerConfig): boolean {
    return this.byHostname.get(listener.hostname ?? '')?.key === listener.key;
  }
}
