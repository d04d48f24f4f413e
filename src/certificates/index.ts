/** Certificates: the project's own authority and its rotation, replaceable serving certificates, facts about certificates in Secrets. */
export {
  createAuthority,
  issueServingCertificate,
  validFor,
  type Authority,
  type ServingNames,
  type Validity,
} from './authority.ts';
export { AuthorityRotation, type RotationOptions } from './authority-rotation.ts';
export { readAuthorities } from './authority-secret.ts';
export {
  authorityFacts,
  certificateFacts,
  readTlsSecret,
  trustBundleFacts,
  type SecretData,
  type TlsSecret,
} from './facts.ts';
export {
  certificateExpiry,
  watchCertificateFiles,
  type CertificateFiles,
  type WatchedCertificate,
} from './file-certificate.ts';
export {
  ManagedCertificate,
  serviceNames,
  type ManagedCertificateOptions,
  type ManagedLeaf,
} from './managed-certificate.ts';
export { observeCertificates, type CertificateExpiries } from './metrics.ts';
export { joinPem, readCertificate, splitPem } from './pem.ts';
export {
  bundleOf,
  checkRotationPolicy,
  defaultRotationPolicy,
  renewalTime,
  type AuthorityState,
  type RotationPolicy,
} from './rotation.ts';
export { SessionKeyring } from './session-keyring.ts';
export { startRounds, type Rounds, type RoundsOptions } from './rounds.ts';
export {
  createCertificateSource,
  type CertificateMaterial,
  type CertificateSource,
  type ReplaceableSource,
} from './source.ts';
export type { BundleStore, SecretStore, SecretText, StoredBundle, StoredSecret } from './stores.ts';
