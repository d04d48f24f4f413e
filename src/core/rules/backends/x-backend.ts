import { display, quote } from '../../text/display.ts';
import { demand, specificationRule } from '../engine/demand.ts';

export const backendPortForbidden = specificationRule({
  id: 'backend-port-forbidden',
  summary: 'A reference to an XBackend names a port, which the XBackend itself has.',
  source: 'Gateway API v1.7.0, BackendObjectReference.port; GEP-4894',
});

export const backendProtocolTls = specificationRule({
  id: 'backend-protocol-tls',
  summary: 'The protocol of an XBackend and its TLS settings contradict each other.',
  source: 'Gateway API v1.7.0, BackendSpec.protocol and .tls',
});

export const externalHostnameInternal = specificationRule({
  id: 'external-hostname-internal',
  summary: 'The hostname of an external backend is one of the cluster.',
  source: 'Gateway API v1.7.0, ExternalHostnameBackend.hostname; GEP-4894',
});

export const backendPortName = specificationRule({
  id: 'backend-port-name',
  summary: 'The port of an XBackend has a name, which the only bundle with that field refuses whatever it is.',
  source: 'Gateway API v1.6.3, BackendPort.name',
});

interface BackendReference {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly port?: number;
}

export const backendWithoutPort = demand(backendPortForbidden.id, function judge({ group, kind, name, port }: BackendReference, report) {
  if (group !== 'gateway.networking.x-k8s.io' || kind !== 'XBackend' || port === undefined) return;
  report({ below: ['port'], value: String(port), message: `The XBackend ${quote(name)} says itself which port it has. Remove port.` });
});

interface Backend {
  readonly protocol?: string;
  readonly tls?: { readonly mode?: string };
}

export const protocolSuitsTls = demand(backendProtocolTls.id, function judge({ protocol, tls: { mode = 'None' } = {} }: Backend, report) {
  if (protocol === 'H2C' && mode !== 'None') {
    report({ below: ['tls', 'mode'], value: mode, message: 'H2C is HTTP/2 without TLS, but tls is set. Remove tls, or write protocol: HTTP2.' });
  }
  if ((protocol === 'HTTP2' || protocol === 'WSS') && mode === 'None') {
    const plain = protocol === 'HTTP2' ? ', or protocol: H2C for HTTP/2 without TLS' : '';
    report({ below: ['tls'], message: `${protocol} needs TLS. Write tls with mode: ServerOnly and validation${plain}.` });
  }
});

export const hostnameIsExternal = demand(externalHostnameInternal.id, function judge(hostname: string, report) {
  if (!hostname.endsWith('.cluster.local')) return;
  report({ below: [], value: display(hostname), message: `${quote(hostname)} is a name of the cluster itself. Refer to the Service instead, or write a hostname outside the cluster.` });
});

/** The check was meant for names that are no DNS labels, but compares an optional value with null, which it never equals. */
export const portHasNoName = demand(backendPortName.id, function judge(name: string, report) {
  if (name === '') return;
  report({ below: [], value: display(name), message: 'The CRD of this bundle refuses every name of a port, good ones too. Leave name out; v1.7 has no such field.' });
});
