/** Where the API server is, and how we prove who we are. */
export interface Credentials {
  /** Without a trailing slash; may have a path, as API servers behind a gateway do. */
  readonly server: string;
  /** The context's namespace; in a pod, the pod's own. */
  readonly namespace: string | undefined;
  /** Names of an HTTP proxy in front of the API server, e.g. `http://127.0.0.1:3128`. */
  readonly proxy: string | undefined;
  /** The proof as of now: tokens and certificates are renewed while we run. */
  prove(): Promise<Proof>;
}

/** Never logged. */
export interface Proof {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsProof;
}

/** PEM, and what to check. */
export interface TlsProof {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** `default` as kubectl finds it, the pod's ServiceAccount, or a kubeconfig file and a context other than its current one. */
export type CredentialSource = 'default' | 'in-cluster' | { readonly kubeconfig?: string; readonly context?: string };

/**
 * Loads kubeconfig or in-cluster credentials. Files, exec plugins and providers are those that the official client
 * knows; it is loaded on the first call only, since that takes a third of a second.
 *
 * @throws with a message for people where the file cannot be read, or names no cluster
 */
export async function loadCredentials(source: CredentialSource): Promise<Credentials> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  if (source === 'default') config.loadFromDefault();
  else if (source === 'in-cluster') loadFromPod(config);
  else {
    if (source.kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(source.kubeconfig);
    if (source.context !== undefined) config.setCurrentContext(source.context);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`the kubeconfig has no cluster for its context ${JSON.stringify(config.getCurrentContext())}`);
  if (cluster.proxyUrl?.startsWith('socks') === true) throw new Error('SOCKS proxies in front of the API server are not supported; use an HTTP proxy');
  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    proxy: cluster.proxyUrl,
    prove: () => prove(config),
  };
}

interface Config {
  applyToHTTPSOptions(options: object): Promise<void>;
}

function loadFromPod(config: { loadFromCluster(): void }): void {
  if (process.env['KUBERNETES_SERVICE_HOST'] === undefined) {
    throw new Error('not running in a pod (KUBERNETES_SERVICE_HOST is not set); use a kubeconfig');
  }
  config.loadFromCluster();
}

/** What the official client would have put into the options of node:https. */
async function prove(config: Config): Promise<Proof> {
  const options: Options = {};
  await config.applyToHTTPSOptions(options);
  const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value).trim()]);
  const basic = options.auth === undefined ? {} : { authorization: `Basic ${Buffer.from(options.auth).toString('base64')}` };
  return {
    headers: { ...basic, ...Object.fromEntries(headers) },
    tls: {
      ...pem('ca', options.ca),
      ...pem('cert', options.cert),
      ...pem('key', options.key),
      ...(options.servername === undefined ? {} : { servername: options.servername }),
      ...(options.rejectUnauthorized === undefined ? {} : { rejectUnauthorized: options.rejectUnauthorized }),
    },
  };
}

interface Options {
  headers?: Readonly<Record<string, unknown>>;
  auth?: string;
  ca?: Buffer | string;
  cert?: Buffer | string;
  key?: Buffer | string;
  servername?: string;
  rejectUnauthorized?: boolean;
}

function pem(name: 'ca' | 'cert' | 'key', value: Buffer | string | undefined): Partial<Record<'ca' | 'cert' | 'key', string>> {
  return value === undefined ? {} : { [name]: String(value) };
}
