import { validatingKinds, validationOf, type ValidationView } from '../../graph/backends/backend-validation.ts';
import type { Path } from '../../resources/path.ts';
import { isReadable } from '../../resources/resource.ts';
import { display, quote } from '../../text/display.ts';
import { hostnameProblems, preciseHostnameProblems } from '../../text/hostname.ts';
import { warned } from '../engine/effects.ts';
import { invalidObject } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';
import { unchecked } from './backend-tls-policies.ts';

export const backendValidationInvalid = rule({
  id: 'backend-validation-invalid',
  kinds: validatingKinds,
  summary: 'The validation of a BackendTLSPolicy or XBackend is invalid or unsupported.',
  effect: warned,
  consequence: invalidObject,
  source: 'Gateway API v1.7.0, BackendTLSPolicyValidation; PolicyReasonInvalid',
  check(subject, _read, report) {
    const found = validationOf(subject);
    if (found === undefined) return;
    for (const { below, ...problem } of validationProblems(found.validation)) {
      const path = [...found.path, ...below];
      if (isReadable(subject, path)) report({ path, ...problem });
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
  if (badHostname !== undefined)
    yield {
      below: ['hostname'],
      value: display(hostname),
      message: `Invalid hostname: ${badHostname.message}. ${unchecked}`,
    };
  if (wellKnownCACertificates !== '' && wellKnownCACertificates !== 'System') {
    yield {
      below: ['wellKnownCACertificates'],
      value: display(wellKnownCACertificates),
      about: 'dialect',
      message: `Unsupported wellKnownCACertificates ${quote(wellKnownCACertificates)}. Use System, or use ConfigMaps in caCertificateRefs. ${unchecked}`,
    };
  }
  if (caCertificateRefs.length > 0 && wellKnownCACertificates !== '') {
    yield {
      below: ['wellKnownCACertificates'],
      value: display(wellKnownCACertificates),
      message: `caCertificateRefs conflicts with wellKnownCACertificates: both set the trusted CA certificates. Remove one of them. ${unchecked}`,
    };
  }
  for (const [index, name] of subjectAltNames.entries()) yield* nameProblems(name, ['subjectAltNames', index]);
}

function* nameProblems(
  { type = '', hostname = '', uri = '' }: NonNullable<ValidationView['subjectAltNames']>[number],
  below: Path,
): Iterable<ValidationProblem> {
  if (type === 'Hostname') {
    const [problem] = hostnameProblems(hostname);
    if (problem !== undefined)
      yield {
        below: [...below, 'hostname'],
        value: display(hostname),
        message: `Invalid hostname: ${problem.message}. ${unchecked}`,
      };
  } else if (type === 'URI') {
    if (uri === '')
      yield {
        below: [...below, 'uri'],
        message: `URI is required with type: URI. Use a URI such as spiffe://example.com/shop. ${unchecked}`,
      };
  } else {
    yield {
      below: [...below, 'type'],
      value: display(type),
      message: `Unsupported type ${quote(type)}. Use Hostname or URI. ${unchecked}`,
    };
  }
}
