import { backendCertificate, clientValidationOf } from '../../graph/gateway-tls.ts';
import { isOurGateway } from '../../graph/gateway.ts';
import type { ReferenceOutcome } from '../../graph/references.ts';
import { formatPath } from '../../resources/path.ts';
import type { Resource } from '../../resources/resource.ts';
import { display, quote } from '../../text/display.ts';
import { listenerRule } from '../listeners/listener-rule.ts';
import { warned } from '../engine/effects.ts';
import { rule, type Consequence, type Finding } from '../engine/rule.ts';

// What a Gateway says of TLS apart from its listeners: certificates of clients, and the one that it shows to backends.

const modes = ['AllowValidOnly', 'AllowInsecureFallback'];

export const clientAuthorityInvalid = listenerRule({
  id: 'client-authority-invalid',
  summary: 'An authority that certificates of clients shall come from cannot be used.',
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidCACertificateRef', scope: 'listener' },
  source: 'Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs; ListenerReasonInvalidCACertificateRef, ListenerReasonInvalidCACertificateKind',
  *judge(listener, owner, read) {
    const validation = clientValidationOf(read, owner, listener);
    for (const reference of validation?.authorities ?? []) {
      const problem = describeAuthority(reference);
      if (problem === undefined) continue;
      const { reason = 'InvalidCACertificateRef', message, ...about } = problem;
      const place = formatPath([...(validation?.path ?? []), 'caCertificateRefs', reference.index]);
      yield { below: ['port'], ...about, consequence: { condition: 'ResolvedRefs', reason, scope: 'listener' }, message: `Clients of this listener are checked by ${place} of its Gateway, which cannot be used: ${message}` };
    }
  },
});

export const clientAuthorityMissing = listenerRule({
  id: 'client-authority-missing',
  summary: 'Clients have to prove who they are, but nothing is left that could prove it.',
  consequence: { condition: 'Accepted', reason: 'NoValidCACertificate', scope: 'listener' },
  source: 'Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs; ListenerReasonNoValidCACertificate',
  *judge(listener, owner, read) {
    const validation = clientValidationOf(read, owner, listener);
    if (validation === undefined) return;
    if (validation.mode !== undefined && !modes.includes(validation.mode)) {
      yield {
        below: ['port'],
        value: display(validation.mode),
        consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'listener' },
        message: `${formatPath([...validation.path, 'mode'])} of the Gateway is ${quote(validation.mode)}, which is unknown, so the listener is not served: nobody knows whom it should let in. Write ${modes.join(' or ')}.`,
      };
    }
    if (validation.authorities.some(({ type }) => type === 'usable' || type === 'unobserved')) return;
    yield {
      below: ['port'],
      // Another controller may read them from elsewhere.
      ...(validation.authorities.some(({ type }) => type === 'unsupportedKind') ? { about: 'dialect' } : {}),
      message: `Clients of this listener have to prove who they are, but no reference in ${formatPath([...validation.path, 'caCertificateRefs'])} of its Gateway leads to a certificate that could prove it, so the listener is not served. Name a ConfigMap with a PEM bundle in ca.crt.`,
    };
  },
});

/** Where a reference to an authority does not lead to one; without a reason it is the usual one. */
export function describeAuthority(reference: ReferenceOutcome): { readonly reason?: string; readonly about?: 'dialect'; readonly message: string } | undefined {
  switch (reference.type) {
    case 'unsupportedKind':
      return { reason: 'InvalidCACertificateKind', about: 'dialect', message: `certificates of authorities are read from ConfigMaps only, not from ${display(reference.kind)}. Write kind: ConfigMap and group: "".` };
    case 'notPermitted':
      return { reason: 'RefNotPermitted', message: `ConfigMap ${reference.target} is in another namespace, where a ReferenceGrant must allow it, from kind Gateway to kind ConfigMap.` };
    case 'absent':
      return { message: `ConfigMap ${reference.target} has not been seen. Check name and namespace, or create it with a PEM bundle in ca.crt.` };
    case 'unusable':
      return { message: `ConfigMap ${reference.target} holds no usable certificate: ${reference.problem}.` };
    case 'usable':
    case 'unobserved':
      return undefined;
  }
}

export const insecureClientValidation = rule({
  id: 'insecure-client-validation',
  kinds: ['Gateway'],
  summary: 'Clients without a valid certificate are let in.',
  effect: warned,
  consequence: { condition: 'InsecureFrontendValidationMode', reason: 'ConfigurationChanged', scope: 'object' },
  source: 'Gateway API v1.7.0, FrontendTLSValidation.mode; GatewayConditionInsecureFrontendValidationMode',
  check(gateway, _read, report) {
    for (const { path, mode } of validationModes(gateway)) {
      if (mode !== 'AllowInsecureFallback') continue;
      report({ path, value: mode, message: `With ${formatPath(path)}: AllowInsecureFallback, clients without a valid certificate are served, too; only backends could turn them away. Write AllowValidOnly unless that is meant.` });
    }
  },
});

function validationModes({ spec }: Resource<'Gateway'>) {
  const { default: whole, perPort = [] } = spec?.tls?.frontend ?? {};
  const ofPorts = perPort.map(({ tls }, index) => ({ path: ['spec', 'tls', 'frontend', 'perPort', index, 'tls', 'validation', 'mode'], mode: tls?.validation?.mode }));
  return [{ path: ['spec', 'tls', 'frontend', 'default', 'validation', 'mode'], mode: whole?.validation?.mode }, ...ofPorts];
}

export const backendCertificateInvalid = rule({
  id: 'backend-certificate-invalid',
  kinds: ['Gateway'],
  summary: 'The certificate that the Gateway shall show to backends cannot be used.',
  effect: warned,
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidClientCertificateRef', scope: 'object' },
  source: 'Gateway API v1.7.0, GatewayBackendTLS.clientCertificateRef; GatewayReasonInvalidClientCertificateRef',
  check({ ref: { namespace, name } }, read, report) {
    if (!read.query(isOurGateway, namespace, name)) return;
    const reference = read.query(backendCertificate, namespace, name);
    const problem = reference && describeProof(reference);
    if (reference !== undefined && problem !== undefined) report({ path: reference.path, ...problem });
  },
});

function describeProof(reference: ReferenceOutcome): Omit<Finding, 'rule' | 'path'> | undefined {
  const effect = 'Until then backends see no certificate of this Gateway.';
  switch (reference.type) {
    case 'unsupportedKind':
      return { value: display(reference.kind), about: 'dialect', message: `Certificates are read from Secrets only, not from ${display(reference.kind)}. Write kind: Secret and leave group out. ${effect}` };
    case 'notPermitted':
      return { value: reference.target, consequence: notPermitted, message: `Secret ${reference.target} is in another namespace, where a ReferenceGrant must allow it, from kind Gateway to kind Secret. ${effect}` };
    case 'absent':
      return { value: reference.target, message: `Secret ${reference.target} has not been seen. Check name and namespace, or create it with type kubernetes.io/tls. ${effect}` };
    case 'unusable':
      return { value: reference.target, message: `Secret ${reference.target} holds no usable certificate: ${reference.problem}. ${effect}` };
    case 'usable':
    case 'unobserved':
      return undefined;
  }
}

const notPermitted: Consequence = { condition: 'ResolvedRefs', reason: 'RefNotPermitted', scope: 'object' };

export const gatewayTlsRules = [clientAuthorityInvalid, clientAuthorityMissing, insecureClientValidation, backendCertificateInvalid];
