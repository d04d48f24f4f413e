/** The address of the API server and the credentials for it. */
export interface Credentials {
  /** Without a trailing slash. May contain a path, for API servers behind a gateway. */
  readonly server: string;
  /** The namespace of the context, or the pod's own namespace. */
  readonly namespace: string | undefined;
  /** URL of an HTTP proxy in front of the API server, e.g. `http://127.0.0.1:3128`. */
  readonly proxy: string | undefined;
  /** The current credentials. Tokens and certificates may be renewed at run time. */
  prove(): Promise<Proof>;
}

/** Secret: must not be logged. */
export interface Proof {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsProof;
}

/** TLS options: PEM certificates and keys, and how to verify the server. */
export interface TlsProof {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}
