import { type ViewAt } from '../../schema/index.ts';
import { demand, specificationRule, type ReportViolation } from '../engine/demand.ts';
import { backendTlsMode } from '../../semantics/intended.ts';

export const backendProtocolTls = specificationRule({
  id: 'backend-protocol-tls',
  summary: 'The protocol of an XBackend conflicts with its TLS settings.',
  source: 'Gateway API v1.7.0, BackendSpec.protocol and .tls',
});

type Backend = ViewAt<'XBackend', 'spec'>;

export const protocolSuitsTls = demand(backendProtocolTls, judgeProtocol);

/** Reports a protocol that conflicts with the TLS mode of an XBackend. */
export function judgeProtocol({ protocol, tls }: Backend, report: ReportViolation): void {
  const mode = backendTlsMode(tls);
  if (protocol === 'H2C' && mode !== 'None') {
    report({
      below: ['tls', 'mode'],
      value: mode,
      message: 'Protocol H2C conflicts with tls: H2C is HTTP/2 without TLS. Remove tls, or use protocol: HTTP2.',
    });
  }
  if ((protocol === 'HTTP2' || protocol === 'WSS') && mode === 'None') {
    const plain = protocol === 'HTTP2' ? ', or protocol: H2C for HTTP/2 without TLS' : '';
    report({
      below: ['tls'],
      message: `Protocol ${protocol} requires tls. Set tls with mode: ServerOnly and validation${plain}.`,
    });
  }
}
