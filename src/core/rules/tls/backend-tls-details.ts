import type { ViewAt } from '../../schema/index.ts';

// The TLS settings of connections to backends, in BackendTLSPolicies and XBackends.

export type Reference = ViewAt<'BackendTLSPolicy', 'spec.validation.caCertificateRefs[]'>;

export type SubjectAltName = ViewAt<'BackendTLSPolicy', 'spec.validation.subjectAltNames[]'>;

export type Validation = ViewAt<'BackendTLSPolicy', 'spec.validation'>;

export type Backend = ViewAt<'XBackend', 'spec'>;
