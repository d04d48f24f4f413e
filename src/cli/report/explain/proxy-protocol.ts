import type { ListenerConfig } from '../../../core/routing/config.ts';
import type { DataPlaneParameters } from '../../../core/graph/parameters.ts';
import { parseNetworks, parseProxyVersions, type ProxyVersion } from '../../../core/text/proxy-protocol.ts';
import { versionFor } from '../../../proxy/proxy-protocol/settings.ts';
import type { Explanation } from './explanation.ts';

/** The use of the PROXY protocol by a listener, according to the parameters of its Gateway. */
export interface ProxyProtocolUse {
  /** Networks whose connections must begin with a header, in the notation of the parameter. */
  readonly accept?: string;
  /** The version of the headers that backends receive. */
  readonly send?: ProxyVersion;
}

/** The parameters of a Gateway for a listener. UDP has no PROXY protocol, and only TCP and TLS listeners send headers to backends. */
export function proxyProtocolUse(
  { acceptProxyProtocol, sendProxyProtocol = '' }: DataPlaneParameters,
  listener: ListenerConfig | undefined,
): ProxyProtocolUse {
  if (listener === undefined || listener.protocol === 'UDP') return {};
  const versions = parseProxyVersions(sendProxyProtocol);
  const isForwarded = listener.protocol === 'TCP' || listener.protocol === 'TLS';
  const send = versions.ok && isForwarded ? versionFor({ send: versions.value }, listener.port) : undefined;
  const isAccepted = acceptProxyProtocol !== undefined && parseNetworks(acceptProxyProtocol).ok;
  return { ...(isAccepted ? { accept: acceptProxyProtocol } : {}), ...(send === undefined ? {} : { send }) };
}

/** Adds the use of the PROXY protocol to the end of an explanation. */
export function withProxyProtocol(explanation: Explanation, { accept, send }: ProxyProtocolUse): Explanation {
  const accepted = accept === undefined ? [] : [`PROXY protocol: connections from ${accept} must begin with a header`];
  const sent = send === undefined ? [] : [`PROXY protocol: backends get headers of ${send}`];
  return { ...explanation, lines: [...explanation.lines, ...accepted, ...sent] };
}
