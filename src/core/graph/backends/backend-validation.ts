import { defineQuery } from '../../incremental/index.ts';
import type { Resource } from '../../resources/resource.ts';
import { readObject } from '../inputs.ts';
import { resolveAuthorities, type AuthorityNode } from '../references.ts';
import { strata } from '../strata.ts';
import { backendTlsMode } from '../../semantics/intended.ts';

/** The kinds of objects that define how to verify the certificate of a backend. */
export const validatingKinds = ['BackendTLSPolicy', 'XBackend'] as const;
export type ValidatingKind = (typeof validatingKinds)[number];

/** A BackendTLSPolicyValidation. */
export type ValidationView = NonNullable<NonNullable<Resource<'BackendTLSPolicy'>['spec']>['validation']>;

/** The validation of an object, and its location; `undefined` for an XBackend that does not use TLS. */
export interface Validation {
  readonly path: readonly string[];
  readonly validation: ValidationView;
}

/** Returns the validation of a BackendTLSPolicy or XBackend; an absent one is empty. */
export function validationOf(resource: Resource<ValidatingKind> | undefined): Validation | undefined {
  if (resource?.kind !== 'XBackend')
    return { path: ['spec', 'validation'], validation: resource?.spec?.validation ?? {} };
  const { tls } = resource.spec ?? {};
  return usesTls(resource) ? { path: ['spec', 'tls', 'validation'], validation: tls?.validation ?? {} } : undefined;
}

/** Whether connections to an XBackend are encrypted. Without `tls`, they are not (BackendSpec.tls). */
export function usesTls({ spec }: Resource<'XBackend'>): boolean {
  return backendTlsMode(spec?.tls) !== 'None';
}

/** The CA certificates that the validation of an object references: ConfigMaps of its own namespace, and ClusterTrustBundles. */
export const backendAuthorities = defineQuery({
  name: 'backendAuthorities',
  stratum: strata.links,
  compute(read, kind: ValidatingKind, namespace: string, name: string): readonly AuthorityNode[] {
    const refs = validationOf(readObject(read, kind, namespace, name))?.validation.caCertificateRefs ?? [];
    return resolveAuthorities(read, { kind, namespace }, refs);
  },
});
