import { demand, specificationRule } from '../engine/demand.ts';

export const backendProtocolTls = specificationRule({
  id: 'backend-protocol-tls',
  summary: 'The protocol of an XBackend and its TLS settings contradict each other.',
  source: 'Gateway API v1.7.0, BackendSpec.protocol and .tls',
});

interface Backend {
  readonly protocol?: string;
  readonly tls?: { readonly mode?: string };
}

export const protocolSuitsTls = demand(backendProtocolTls, function judge({ protocol, tls: { mode = 'None' } = {} }: Backend, report) {
  if (protocol === 'H2C' && mode !== 'None') {
    report({ below: ['tls', 'mode'], value: mode, message: 'H2C is HTTP/2 without TLS, but tls is set. Remove tls, or write protocol: HTTP2.' });
  }
  if ((protocol === 'HTTP2' || protocol === 'WSS') && mode === 'None') {
    const plain = protocol === 'HTTP2' ? ', or protocol: H2C for HTTP/2 without TLS' : '';
    report({ below: ['tls'], message: `${protocol} needs TLS. Write tls with mode: ServerOnly and validation${plain}.` });
  }
});
