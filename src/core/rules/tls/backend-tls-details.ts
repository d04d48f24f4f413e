// The TLS settings of connections to backends, in BackendTLSPolicies and XBackends.

export interface Reference {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
}

export interface SubjectAltName {
  readonly type?: string;
  readonly hostname?: string;
  readonly uri?: string;
}

export interface Validation {
  readonly hostname?: string;
  readonly caCertificateRefs?: readonly Reference[];
  readonly subjectAltNames?: readonly SubjectAltName[];
}

export interface Backend {
  readonly type?: string;
  readonly externalHostname?: { readonly hostname?: string };
  readonly tls?: { readonly mode?: string; readonly validation?: Validation };
}
