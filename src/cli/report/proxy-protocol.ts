import type { ListenerConfig } from '../../core/routing/config.ts';
import type { DataPlaneParameters } from '../../core/graph/parameters.ts';
import { parseNetworks, parseProxyVersions, type ProxyVersion } from '../../core/text/proxy-protocol.ts';
import { versionFor } from '../../proxy/proxy-protocol/settings.ts';
import type { Explanation } from './explanation.ts';

/** Where a listener speaks the PROXY protocol, by the parameters of its Gateway. */
export interface ProxyProtocolUse {
  /** Connections from there must begin with a header: as the parameter names them. */
  readonly accept?: string;
  /** The version of the headers that backends get. */
  readonly send?: ProxyVersion;
}

/** What the parameters of a Gateway say of a listener; UDP has no PROXY protocol, and only connections of TCP and TLS are told to backends. */
export function proxyProtocolUse({ acceptProxyProtocol, sendProxyProtocol = '' }: DataPlaneParameters, listener: ListenerConfig | undefined): ProxyProtocolUse {
  if (listener === undefined || listener.protocol === 'UDP') return {};
  const versions = parseProxyVersions(sendProxyProtocol);
  const isForwarded = listener.protocol === 'TCP' || listener.protocol === 'TLS';
  const send = versions.ok && isForwarded ? versionFor({ send: versions.value }, listener.port) : undefined;
  const isAccepted = acceptProxyProtocol !== undefined && parseNetworks(acceptProxyProtocol).ok;
  return { ...(isAccepted ? { accept: acceptProxyProtocol } : {}), ...(send === undefined ? {} : { send }) };
}

/** An explanation with the use of the PROXY protocol at its end. */
export function withProxyProtocol(explanation: Explanation, { accept, send }: ProxyProtocolUse): Explanation {
  const accepted = accept === undefined ? [] : [`PROXY protocol: connections from ${accept} must begin with a header`];
  const sent = send === undefined ? [] : [`PROXY protocol: backends get headers of ${send}`];
  return { ...explanation, lines: [...explanation.lines, ...accepted, ...sent] };
}
