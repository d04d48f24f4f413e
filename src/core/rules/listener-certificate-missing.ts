import { demand, specificationRule, type Violation } from './demand.ts';

export const listenerCertificateMissing = specificationRule({
  id: 'listener-certificate-missing',
  summary: 'A listener terminates TLS, but has no certificate.',
  source: 'Gateway API v1.7.0, ListenerTLSConfig.certificateRefs ("certificateRefs or options must be specified when mode is Terminate")',
});

interface ListenerTls {
  readonly mode?: string;
  readonly certificateRefs?: readonly unknown[];
  readonly options?: object;
}

const message = 'mode is Terminate, but no certificate is named. Write certificateRefs with a Secret of type kubernetes.io/tls, or mode: Passthrough on a listener of protocol TLS.';

function* judge({ mode, certificateRefs = [] }: ListenerTls): Iterable<Violation> {
  if (mode === 'Terminate' && certificateRefs.length === 0) yield { below: ['certificateRefs'], message };
}

export const certificateOrOptions = demand(listenerCertificateMissing.id, function* judgeBoth(tls: ListenerTls) {
  if (Object.keys(tls.options ?? {}).length === 0) yield* judge(tls);
});
/** v1.0 takes no options instead. */
export const certificate = demand(listenerCertificateMissing.id, judge, 'v1.0');
