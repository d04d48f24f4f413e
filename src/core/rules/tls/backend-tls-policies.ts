import { isService, policyAuthorities, policyOfTarget } from '../../graph/backend-policies.ts';
import { readObject } from '../../graph/inputs.ts';
import { isObserved } from '../../graph/observed.ts';
import type { Path } from '../../resources/path.ts';
import { isReadable, type Resource } from '../../resources/resource.ts';
import { display, quote } from '../../text/display.ts';
import { hostnameProblems, preciseHostnameProblems } from '../../text/hostname.ts';
import { warned } from '../engine/effects.ts';
import { describeAuthority } from './gateway-tls.ts';
import { rule } from '../engine/rule.ts';

// What BackendTLSPolicies say of the connections to backends, and whether they have a say.

type PolicyView = Resource<'BackendTLSPolicy'>;
type ValidationView = NonNullable<NonNullable<PolicyView['spec']>['validation']>;

export const backendPolicyConflicted = rule({
  id: 'backend-policy-conflicted',
  kinds: ['BackendTLSPolicy'],
  summary: 'An older BackendTLSPolicy targets the same Service or port.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'Conflicted', scope: 'target' },
  source: 'Gateway API v1.7.0, BackendTLSPolicySpec.targetRefs ("For any BackendTLSPolicy that does not take precedence")',
  check({ spec, ref: { namespace, name } }, read, report) {
    for (const [index, target] of (spec?.targetRefs ?? []).entries()) {
      const { name: service = '', sectionName = '' } = target;
      const winner = isService(target) ? read.query(policyOfTarget, namespace, service, sectionName) : undefined;
      if (winner === undefined || winner === name) continue;
      const what = sectionName === '' ? `Service ${namespace}/${service}` : `port ${display(sectionName)} of Service ${namespace}/${service}`;
      report({ path: ['spec', 'targetRefs', index], value: winner, message: `BackendTLSPolicy ${namespace}/${winner} goes for ${what} already: it is older, or first by name. Remove one of the two, or let them target ports of their own by sectionName.` });
    }
  },
});

export const backendPolicyTargetMissing = rule({
  id: 'backend-policy-target-missing',
  kinds: ['BackendTLSPolicy'],
  summary: 'A BackendTLSPolicy targets a Service, or a port of one, that does not exist.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'TargetNotFound', scope: 'target' },
  source: 'Gateway API v1.7.0, LocalPolicyTargetReferenceWithSectionName; PolicyReasonTargetNotFound',
  check({ spec, ref: { namespace } }, read, report) {
    for (const [index, target] of (spec?.targetRefs ?? []).entries()) {
      if (!isService(target)) continue;
      const { name = '', sectionName } = target;
      const service = readObject(read, 'Service', namespace, name);
      const path = ['spec', 'targetRefs', index];
      if (service === undefined) {
        if (read.query(isObserved, 'Service')) report({ path: [...path, 'name'], value: display(name), message: `Service ${namespace}/${display(name)} has not been seen. Check the name, or apply it; a policy reaches Services of its own namespace only.` });
      } else if (sectionName !== undefined && !service.spec?.ports?.some((port) => port.name === sectionName)) {
        const names = (service.spec?.ports ?? []).flatMap((port) => port.name ?? []);
        report({ path: [...path, 'sectionName'], value: display(sectionName), message: `Service ${namespace}/${name} has no port with the name ${quote(sectionName)}; ${names.length === 0 ? 'its ports have no names' : `its ports are ${names.join(', ')}`}. Write one of them, or leave sectionName out.` });
      }
    }
  },
});

export const backendValidationInvalid = rule({
  id: 'backend-validation-invalid',
  kinds: ['BackendTLSPolicy'],
  summary: 'A BackendTLSPolicy does not say, in words that are known, how to check the certificates of backends.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'Invalid', scope: 'object' },
  source: 'Gateway API v1.7.0, BackendTLSPolicyValidation; PolicyReasonInvalid',
  check(policy, _read, report) {
    const base = ['spec', 'validation'];
    for (const { below, ...found } of validationProblems(policy.spec?.validation ?? {})) {
      if (isReadable(policy, [...base, ...below])) report({ path: [...base, ...below], ...found });
    }
  },
});

interface ValidationProblem {
  readonly below: Path;
  readonly value?: string;
  readonly about?: 'dialect';
  readonly message: string;
}

const unchecked = 'Until then its requests are answered 500, since nobody could tell whom they reach.';

function* validationProblems(validation: ValidationView): Iterable<ValidationProblem> {
  const { hostname = '', caCertificateRefs = [], wellKnownCACertificates = '', subjectAltNames = [] } = validation;
  const [badHostname] = preciseHostnameProblems(hostname);
  if (badHostname !== undefined) yield { below: ['hostname'], value: display(hostname), message: `This hostname cannot be asked for in TLS: ${badHostname.message}. ${unchecked}` };
  if (wellKnownCACertificates !== '' && wellKnownCACertificates !== 'System') {
    yield { below: ['wellKnownCACertificates'], value: display(wellKnownCACertificates), about: 'dialect', message: `Authorities called ${quote(wellKnownCACertificates)} are not known here. Write System, or name ConfigMaps in caCertificateRefs. ${unchecked}` };
  }
  if (caCertificateRefs.length > 0 && wellKnownCACertificates !== '') {
    yield { below: ['wellKnownCACertificates'], value: display(wellKnownCACertificates), message: `Both caCertificateRefs and wellKnownCACertificates are given, so it is not clear whom to trust. Give one of them. ${unchecked}` };
  }
  for (const [index, name] of subjectAltNames.entries()) yield* nameProblems(name, ['subjectAltNames', index]);
}

function* nameProblems({ type = '', hostname = '', uri = '' }: NonNullable<ValidationView['subjectAltNames']>[number], below: Path): Iterable<ValidationProblem> {
  if (type === 'Hostname') {
    const [problem] = hostnameProblems(hostname);
    if (problem !== undefined) yield { below: [...below, 'hostname'], value: display(hostname), message: `No certificate can have this name: ${problem.message}. ${unchecked}` };
  } else if (type === 'URI') {
    if (uri === '') yield { below: [...below, 'uri'], message: `The URI is missing. Write one such as spiffe://example.com/shop. ${unchecked}` };
  } else {
    yield { below: [...below, 'type'], value: display(type), message: `Names of the type ${quote(type)} are not known here. Write Hostname or URI. ${unchecked}` };
  }
}

export const backendAuthorityInvalid = rule({
  id: 'backend-authority-invalid',
  kinds: ['BackendTLSPolicy'],
  summary: 'An authority that certificates of backends shall come from cannot be used.',
  effect: warned,
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidCACertificateRef', scope: 'object' },
  source: 'Gateway API v1.7.0, BackendTLSPolicyValidation.caCertificateRefs; BackendTLSPolicyReasonInvalidCACertificateRef, BackendTLSPolicyReasonInvalidKind',
  check({ ref: { namespace, name } }, read, report) {
    for (const reference of read.query(policyAuthorities, namespace, name)) {
      const problem = describeAuthority(reference);
      if (problem === undefined) continue;
      const reason = reference.type === 'unsupportedKind' ? 'InvalidKind' : 'InvalidCACertificateRef';
      const { about } = problem;
      report({ path: ['spec', 'validation', 'caCertificateRefs', reference.index], ...(about && { about }), consequence: { condition: 'ResolvedRefs', reason, scope: 'object' }, message: `This authority cannot be used: ${problem.message}` });
    }
  },
});

export const backendAuthorityMissing = rule({
  id: 'backend-authority-missing',
  kinds: ['BackendTLSPolicy'],
  summary: 'No authority is left that certificates of backends could be checked by.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'NoValidCACertificate', scope: 'object' },
  source: 'Gateway API v1.7.0, BackendTLSPolicyValidation.caCertificateRefs; BackendTLSPolicyReasonNoValidCACertificate',
  check(policy, read, report) {
    const path = ['spec', 'validation', 'caCertificateRefs'];
    const references = read.query(policyAuthorities, policy.ref.namespace, policy.ref.name);
    const isTrusting = (policy.spec?.validation?.wellKnownCACertificates ?? '') !== '' || references.some(({ type }) => type === 'usable' || type === 'unobserved');
    if (isTrusting || !isReadable(policy, path)) return;
    const fault = references.length === 0 ? 'Neither caCertificateRefs nor wellKnownCACertificates is given' : 'None of the authorities can be used';
    const isElsewhere = references.some(({ type }) => type === 'unsupportedKind');
    report({ path: references.length === 0 ? ['spec', 'validation'] : path, ...(isElsewhere && { about: 'dialect' }), message: `${fault}, so no backend could prove who it is. Name a ConfigMap with a PEM bundle in ca.crt. ${unchecked}` });
  },
});

export const backendTlsPolicyRules = [backendPolicyConflicted, backendPolicyTargetMissing, backendValidationInvalid, backendAuthorityInvalid, backendAuthorityMissing];
