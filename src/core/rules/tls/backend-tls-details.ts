import { display, quote } from '../../text/display.ts';
import { isIpAddress } from '../../text/hostname.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict, recorded, warned } from '../engine/effects.ts';

// How connections to backends are secured, by BackendTLSPolicies and XBackends.

interface Reference {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
}

export const policySeveralTargets = unenforcedRule({
  id: 'policy-several-targets',
  summary: 'A BackendTLSPolicy has more than one target.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendTLSPolicySpec.targetRefs (implementations need not support more than one)',
}, function judge(targets: readonly Reference[], report) {
  if (targets.length < 2) return;
  report({ below: [1], value: String(targets.length), message: `This policy has ${targets.length} targets, but implementations need to support only one. Write a policy for each.` });
});

export const policyTargetKind = unenforcedRule({
  id: 'policy-target-kind',
  summary: 'A BackendTLSPolicy targets something other than a Service.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendTLSPolicySpec.targetRefs (Service is core, other kinds are implementation-specific)',
}, function judge({ group = '', kind = '' }: Reference, report) {
  if (group === '' && kind === 'Service') return;
  const cure = kind === 'Service' ? 'Write group: ""' : 'Write kind: Service and group: "" unless your implementation documents this kind';
  report({ below: ['kind'], value: display(group === '' ? kind : `${group}/${kind}`), message: `Implementations need to support a Service as target, not the kind ${quote(kind)} of the group ${quote(group)}. ${cure}.` });
});

interface SubjectAltName {
  readonly type?: string;
  readonly hostname?: string;
  readonly uri?: string;
}

interface Validation {
  readonly hostname?: string;
  readonly caCertificateRefs?: readonly Reference[];
  readonly subjectAltNames?: readonly SubjectAltName[];
}

export const backendSeveralAuthorities = unenforcedRule({
  id: 'backend-several-authorities',
  summary: 'A backend may have its certificate from more than one reference.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendTLSPolicyValidation.caCertificateRefs (more than one is implementation-specific)',
}, function judge(refs: readonly Reference[], report) {
  if (refs.length < 2) return;
  const kinds = new Set(refs.map(({ kind = '' }) => kind));
  const cure = kinds.size > 1 ? `Keep one of ${[...kinds].map((kind) => display(kind)).join(' and ')}` : 'Put all certificates into one ConfigMap';
  report({ below: [], value: String(refs.length), message: `There are ${refs.length} references to authorities, but implementations need to support only one. ${cure}.` });
});

export const altNameWithoutHostname = unenforcedRule({
  id: 'alt-name-without-hostname',
  summary: 'The hostname of a backend is asked for in TLS, but its certificate need not have it.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendTLSPolicyValidation.hostname (with subjectAltNames, used for SNI only)',
}, function judge({ hostname = '', subjectAltNames = [] }: Validation, report) {
  if (subjectAltNames.length === 0 || subjectAltNames.some((name) => name.hostname === hostname)) return;
  report({ below: ['subjectAltNames'], message: `With subjectAltNames the certificate is held against them alone, and ${quote(hostname)} is not among them: it is asked for, but not checked. Add type: Hostname with it, unless that is meant.` });
});

/** `scheme://host`, where the host may be followed by a port or path. */
const withHost = /^[^:/?#]+:\/\/[^/?#]+/;

export const altNameUri = unenforcedRule({
  id: 'alt-name-uri',
  summary: 'A URI that a certificate is to have names no host.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, AbsoluteURI ("must include both a scheme and a scheme-specific-part"); RFC 5280 section 4.2.1.6',
}, function judge({ type, uri = '' }: SubjectAltName, report) {
  if (type !== 'URI' || uri === '' || withHost.test(uri)) return;
  report({ below: ['uri'], value: display(uri), message: `${quote(uri)} has no host after "://", so no certificate has it. Write one such as spiffe://example.com/shop.` });
});

interface Backend {
  readonly type?: string;
  readonly externalHostname?: { readonly hostname?: string };
  readonly tls?: { readonly mode?: string; readonly validation?: Validation };
}

export const externalBackendWithoutTls = unenforcedRule({
  id: 'external-backend-without-tls',
  summary: 'Requests leave the cluster without TLS.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendSpec.tls (SHOULD be set for external backends); GEP-4894',
}, function judge({ type, externalHostname, tls: { mode = 'None' } = {} }: Backend, report) {
  if (type !== 'ExternalHostname' || mode !== 'None') return;
  report({ below: ['tls'], message: `Requests to ${quote(externalHostname?.hostname)} leave the cluster unencrypted. Write tls with mode: ServerOnly and validation.` });
});

/** Since v1.7 bundles refuse it. */
export const backendValidationMissing = unenforcedRule({
  id: 'backend-validation-missing',
  summary: 'An XBackend has TLS, but says not how to check the certificate of the backend.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendTLS.validation (required unless mode is None)',
}, function judge({ mode = 'None', validation }: NonNullable<Backend['tls']>, report) {
  if (mode === 'None' || validation !== undefined) return;
  report({ below: ['validation'], message: `mode is ${mode}, but nothing says how to check the certificate of the backend; v1.7 refuses that. Write validation with hostname and wellKnownCACertificates: System or caCertificateRefs.` });
});

export const backendHostnameDiffers = unenforcedRule({
  id: 'backend-hostname-differs',
  summary: 'The certificate of an external backend is to have another name than the backend.',
  effect: recorded,
  source: 'Gateway API v1.7.0, BackendTLS.validation and ExternalHostnameBackend.hostname',
}, function judge({ externalHostname, tls }: Backend, report) {
  const [asked, expected] = [externalHostname?.hostname, tls?.validation?.hostname];
  // An address is wrong in itself, and no name for a certificate.
  if (asked === undefined || expected === undefined || asked === expected || isIpAddress(asked)) return;
  report({ below: ['tls', 'validation', 'hostname'], value: display(expected), message: `Requests go to ${quote(asked)}, but its certificate has to be for ${quote(expected)}. Write ${quote(asked)}, unless that is meant.` });
});
