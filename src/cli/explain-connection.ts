import { ofQualifiedName } from '../core/resources/reference.ts';
import {
  layer4OutcomesOf,
  type ArrivingConnection,
  type Layer4Outcome,
} from '../core/routing/decision/layer4-outcome.ts';
import type { ConfigResource } from '../core/routing/config.ts';
import { quote } from '../core/text/display.ts';
import { hostnameKey } from '../core/text/hostname.ts';
import { defaultPorts } from '../core/text/origin.ts';
import { UsageError } from './usage-error.ts';

/** The URL of a connection without requests. */
export const layer4Url = /^(?<scheme>tls|tcp|udp):\/\/(?<host>[^/?#:]*)(?::(?<port>\d+))?\/?$/i;
const httpsUrl = /^(?<scheme>https):\/\/(?<host>[^/?#:]*)(?::(?<port>\d+))?/i;
const layer4Protocols: Readonly<Record<string, ArrivingConnection['protocol']>> = {
  tls: 'TLS',
  tcp: 'TCP',
  udp: 'UDP',
  https: 'TLS',
};

/** A connection to explain. */
export interface Connection extends ArrivingConnection {
  /** True for an https URL: only TLS listeners are considered. */
  readonly isHttps: boolean;
  /** Name of a Gateway, or `name.namespace`. `undefined`: any Gateway. */
  readonly gateway: string | undefined;
}

/**
 * Parses the connection that a URL stands for. `undefined` for plain HTTP and for an invalid URL.
 *
 * @throws UsageError if the port is missing
 */
export function connectionOf(url: string): Connection | undefined {
  const groups = layer4Url.exec(url)?.groups ?? httpsUrl.exec(url)?.groups;
  if (groups === undefined) return undefined;
  const scheme = (groups['scheme'] ?? '').toLowerCase();
  const protocol = layer4Protocols[scheme];
  if (protocol === undefined) return undefined;
  const { host = '', port = protocol === 'TLS' ? String(defaultPorts.https) : undefined } = groups;
  if (port === undefined)
    throw new UsageError(
      `Invalid URL ${quote(url)}: a port is required. Use a URL such as ${scheme}://front:5432, with the name of a Gateway.`,
    );
  return {
    protocol,
    port: Number(port),
    serverName: protocol === 'TLS' ? hostnameKey(host) : '',
    isHttps: scheme === 'https',
    gateway: protocol === 'TLS' || host === '' ? undefined : host,
  };
}

/** How each Gateway handles a connection. */
export function connectionOutcomes(
  resources: readonly ConfigResource[],
  { isHttps, gateway, ...connection }: Connection,
): readonly Layer4Outcome[] {
  const outcomes = layer4OutcomesOf(resources, connection).filter(
    (outcome) => gateway === undefined || isNamed(outcome.gateway, gateway),
  );
  return isHttps ? outcomes.filter(({ listener }) => listener?.protocol === 'TLS') : outcomes;
}

/** @param qualified `namespace/name` */
function isNamed(qualified: string, host: string): boolean {
  const { namespace, name } = ofQualifiedName(qualified);
  return host === name || host === `${name}.${namespace}`;
}
