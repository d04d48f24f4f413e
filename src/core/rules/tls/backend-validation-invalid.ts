import type { Path } from '../../resources/path.ts';
import { isReadable, type Resource } from '../../resources/resource.ts';
import { display, quote } from '../../text/display.ts';
import { hostnameProblems, preciseHostnameProblems } from '../../text/hostname.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { unchecked } from './backend-tls-policies.ts';

type PolicyView = Resource<'BackendTLSPolicy'>;
type ValidationView = NonNullable<NonNullable<PolicyView['spec']>['validation']>;

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
