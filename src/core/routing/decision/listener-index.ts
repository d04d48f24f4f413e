import { suffixesBegin } from '../../text/hostname.ts';
import { isReserved, type ListenerConfig } from '../config.ts';

/** The listeners of one protocol on one port, by the host of a request or the server name of a handshake. */
export class ListenerIndex {
  private readonly byHostname = new Map<string, ListenerConfig>();

  /** Adds a listener. Returns the existing listener with the same hostname, if any: the first one stays. */
  add(listener: ListenerConfig): ListenerConfig | undefined {
    const hostname = listener.hostname ?? '';
    const standing = this.byHostname.get(hostname);
    if (standing === undefined) this.byHostname.set(hostname, listener);
    return standing;
  }

  /**
   * The listener for a host (lower case). Precedence: exact hostname, the longest wildcard, none. No other listener serves
   * the host, whatever the routes (listener isolation). `undefined` if the listener only reserves the hostname.
   */
  select(host: string): ListenerConfig | undefined {
    const found = this.find(host);
    return found === undefined || isReserved(found) ? undefined : found;
  }

  private find(host: string): ListenerConfig | undefined {
    const exact = this.byHostname.get(host);
    if (exact !== undefined && host !== '') return exact;
    for (let dot = host.indexOf('.', suffixesBegin(host)); dot !== -1; dot = host.indexOf('.', dot + 1)) {
      const wildcard = this.byHostname.get(`*${host.slice(dot)}`);
      if (wildcard !== undefined) return wildcard;
    }
    return this.byHostname.get('');
  }

  /**
   * The listener for a host. `connection` is the listener that a TLS connection was opened for by its server name. Hosts of
   * other listeners must not be served on it (421, Gateway API Listener.hostname).
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
