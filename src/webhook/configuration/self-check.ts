import { connect, type ConnectionOptions } from 'node:tls';
import {
  joinPem,
  readCertificate,
  startRounds,
  type BundleStore,
  type CertificateSource,
} from '../../certificates/index.ts';

export interface SelfCheckOptions {
  readonly bundles: Pick<BundleStore, 'read' | 'onChange'>;
  readonly certificates: CertificateSource;
  /** Where the webhook listens in this process. */
  readonly address: { readonly host: string; readonly port: number };
  /** The server name that the API server uses: `<service>.<namespace>.svc`. */
  readonly serverName: string;
  /** Timeout of a handshake in milliseconds. */
  readonly patience?: number;
}

/** Whether the API server would trust this replica, as far as the replica can tell. */
export interface SelfCheck {
  /** The reason why it would not; `undefined` if it would. */
  readonly problem: () => string | undefined;
  readonly stop: () => Promise<void>;
}

/** Milliseconds between two checks without a problem: changes of the certificate and of the configuration cause one at once. */
const interval = 30_000;
/** The same while there is a problem. */
const retryInterval = 1_000;
/** The same after a check without a result. */
const noResultInterval = 2_000;
const defaultPatience = 5_000;

/** Connects to this replica's own TLS port, now and after each change, with the trusted authorities of the live configuration. */
export function startSelfCheck(options: SelfCheckOptions): SelfCheck {
  const { bundles, certificates } = options;
  let problem: string | undefined = 'the self-check has not called the TLS port yet';
  const round = async (): Promise<number> => {
    try {
      problem = await findProblem(options);
    } catch {
      // An unreachable API server, or a handshake that times out under load, says nothing about the certificate, so the
      // last result stays. Otherwise all replicas would become unready at once when they are needed most.
      return noResultInterval;
    }
    return problem === undefined ? interval : retryInterval;
  };
  const rounds = startRounds(round, {
    longest: interval,
    retry: noResultInterval,
    onError: () => undefined,
    wakeOn: [(listener) => bundles.onChange(listener), (listener) => certificates.onChange(listener)],
  });
  return { problem: () => problem, stop: rounds.stop };
}

async function findProblem({
  bundles,
  address,
  serverName,
  patience = defaultPatience,
}: SelfCheckOptions): Promise<string | undefined> {
  const bundle = await bundles.read();
  if (bundle === undefined) return 'ValidatingWebhookConfiguration not found';
  // The API server ignores certificates that it cannot read, and needs at least one that it can. OpenSSL refuses them all.
  const readable = bundle.certificates.filter((pem) => readCertificate(pem) !== undefined);
  if (readable.length === 0 && bundle.certificates.length > 0)
    return 'the caBundle of the ValidatingWebhookConfiguration contains no valid certificate';
  // Without a bundle the API server uses its system roots.
  const trust = readable.length === 0 ? {} : { ca: joinPem(readable) };
  const refusal = await shakeHands({ ...address, servername: serverName, timeout: patience, ...trust });
  return refusal === undefined
    ? undefined
    : `the ValidatingWebhookConfiguration does not trust the serving certificate (${refusal})`;
}

/** Opens a TLS connection and closes it again. Resolves with the problem, if any; rejects on a timeout. */
function shakeHands(options: ConnectionOptions): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(options);
    const end = (problem: string | undefined): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.once('secureConnect', () => end(undefined));
    socket.once('error', (error) => end(error.message));
    socket.once('timeout', () => {
      socket.destroy();
      reject(new Error('no answer in time'));
    });
  });
}
