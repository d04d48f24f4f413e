import { type ViewAt } from '../../schema/index.ts';
import { terminatesTls } from '../../graph/protocols.ts';
import { isReadable } from '../../resources/resource.ts';
import { demand, violationsAt, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { listenerTlsMode } from '../../semantics/intended.ts';

export const listenerCertificateMissing = rule({
  id: 'listener-certificate-missing',
  kinds: ['Gateway', 'ListenerSet'],
  summary: 'A listener terminates TLS, but has no certificate.',
  effect: denied,
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidCertificateRef', scope: 'listener' },
  source:
    'Gateway API v1.7.0, ListenerTLSConfig.certificateRefs ("certificateRefs or options must be specified when mode is Terminate")',
  check(owner, _read, report) {
    for (const [index, { protocol = '', tls }] of (owner.spec?.listeners ?? []).entries()) {
      const path = ['spec', 'listeners', index, 'tls'];
      if (tls === undefined || !terminatesTls({ protocol, tlsMode: tls.mode }) || !isReadable(owner, path)) continue;
      judgeBoth(tls, violationsAt(path, report));
    }
  },
});

type ListenerTls = ViewAt<'Gateway', 'spec.listeners[].tls'>;

const message =
  'certificateRefs is required with mode: Terminate. Set certificateRefs with a Secret of type kubernetes.io/tls, or use mode: Passthrough on a listener with protocol TLS.';

function judge(tls: ListenerTls, report: ReportViolation): void {
  const isEmpty = (tls.certificateRefs ?? []).length === 0;
  if (listenerTlsMode(tls) === 'Terminate' && isEmpty) report({ below: ['certificateRefs'], message });
}

function judgeBoth(tls: ListenerTls, report: ReportViolation): void {
  if (Object.keys(tls.options ?? {}).length === 0) judge(tls, report);
}

export const certificateOrOptions = demand(listenerCertificateMissing, judgeBoth);
/** In v1.0, options do not replace a certificate. */
export const certificate = demand(listenerCertificateMissing, judge, 'v1.0');
