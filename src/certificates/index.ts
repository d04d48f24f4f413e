/** Certificates: a development authority, serving certificates that can be replaced, and facts about those in Secrets. */
export { createAuthority, issueServingCertificate, validFor, type Authority, type ServingNames, type Validity } from './authority.ts';
export { certificateFacts, readTlsSecret, type SecretData, type TlsSecret } from './facts.ts';
export { createCertificateSource, type CertificateMaterial, type CertificateSource, type ReplaceableSource } from './source.ts';
