import { between, experimental, since, until, versions } from '../availability.ts';
import { list, object, string } from '../node.ts';
import {
  atomic,
  group,
  hostname,
  kind,
  localObjectReference,
  name,
  namespace,
  preciseHostname,
  sectionName,
  subdomain,
  tlsOptions,
} from './common.ts';
import { policyStatus } from './policy.ts';
import { deprecated, gatewayTable, stored, unserved } from './table.ts';

const wellKnownPattern = `^(System|(${subdomain}/([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]))$`;

/** Names that are accepted in a certificate instead of the hostname. */
const subjectAltName = object(
  {
    hostname,
    type: string({ enum: ['Hostname', 'URI'] }),
    uri: string({
      maxLength: 253,
      minLength: 1,
      pattern: '^(([^:/?#]+):)(//([^/?#]*))([^?#]*)(\\?([^#]*))?(#(.*))?',
      form: 'an absolute URI such as spiffe://example.com/shop',
    }),
  },
  { required: ['type'] },
);

const extendedSince = { experimental: '1.2', standard: '1.4' } as const;

/** The validation of the certificate of a backend. */
export const backendTlsValidation = object(
  {
    caCertificateRefs: list(localObjectReference, { minItems: experimental('1.7', 1), maxItems: 8, listType: atomic }),
    hostname: preciseHostname,
    subjectAltNames: since(extendedSince, list(subjectAltName, { maxItems: 5, listType: atomic })),
    wellKnownCACertificates: string({
      enum: [until('1.5', 'System')],
      maxLength: since('1.5', 253),
      minLength: since('1.5', 1),
      pattern: since('1.5', wellKnownPattern),
      form: 'System, or a name of an implementation such as example.com/corporate',
    }),
  },
  { required: ['hostname'] },
);

const targetRef = object({ group, kind, name, sectionName }, { required: ['group', 'kind', 'name'] });

const spec = object(
  {
    options: since(extendedSince, tlsOptions),
    targetRefs: list(targetRef, { minItems: 1, maxItems: 16, listType: atomic }),
    validation: backendTlsValidation,
  },
  { required: ['targetRefs', 'validation'] },
);

/** v1alpha2 had a single target and other field names. */
const alpha2Spec = object(
  {
    targetRef: object({ group, kind, name, namespace, sectionName }, { required: ['group', 'kind', 'name'] }),
    tls: object(
      {
        caCertRefs: list(localObjectReference, { maxItems: 8 }),
        hostname: preciseHostname,
        wellKnownCACerts: string({ enum: ['System'] }),
      },
      { required: ['hostname'] },
    ),
  },
  { required: ['targetRef', 'tls'] },
);
const alpha2Body = object({ spec: alpha2Spec, status: policyStatus }, { required: ['spec'] });
export type BackendTlsPolicyAlpha2 = typeof alpha2Body;

export const backendTlsPolicy = gatewayTable({
  kind: 'BackendTLSPolicy',
  plural: 'backendtlspolicies',
  namespaced: true,
  versions: [
    since('1.4', stored('v1')),
    between({ experimental: '1.0' }, '1.1', stored('v1alpha2', alpha2Body)),
    versions(
      between({ experimental: '1.1' }, '1.4', stored('v1alpha3')),
      since({ experimental: '1.4' }, deprecated('v1alpha3')),
      since({ standard: '1.4' }, unserved('v1alpha3')),
    ),
  ],
  body: object({ spec, status: policyStatus }, { required: ['spec'] }),
});
