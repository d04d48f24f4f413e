import { connect, type ConnectionOptions } from 'node:tls';
import { joinPem, startRounds, type BundleStore, type CertificateSource } from '../../certificates/index.ts';

export interface SelfCheckOptions {
  readonly bundles: Pick<BundleStore, 'read' | 'onChange'>;
  readonly certificates: CertificateSource;
  /** Where the webhook listens in this process. */
  readonly address: { readonly host: string; readonly port: number };
  /** What the API server calls it: `<service>.<namespace>.svc`. */
  readonly serverName: string;
  /** Milliseconds that a handshake may take. */
  readonly patience?: number;
}

/** Whether the API server would trust this replica, as far as one can know from here. */
export interface SelfCheck {
  /** Why it would not; `undefined` while it would. */
  readonly problem: () => string | undefined;
  readonly stop: () => Promise<void>;
}

/** Milliseconds. */
const interval = 10_000;
const defaultPatience = 5_000;

/** Calls this replica's own TLS port, now and after each change, trusting what the live configuration trusts. */
export function startSelfCheck(options: SelfCheckOptions): SelfCheck {
  const { bundles, certificates } = options;
  let problem: string | undefined = 'the self-check has not called the TLS port yet';
  const round = async (): Promise<number> => {
    problem = await findProblem(options);
    return problem === undefined ? interval : interval / 10;
  };
  const rounds = startRounds(round, {
    longest: interval,
    retry: interval / 10,
    // An API server that cannot be reached, or a handshake that takes too long while there is much to do, says nothing
    // about the certificate: the last verdict stays. Else all replicas would leave at once when they are needed most.
    onError: () => undefined,
    wakeOn: [(listener) => bundles.onChange(listener), (listener) => certificates.onChange(listener)],
  });
  return { problem: () => problem, stop: rounds.stop };
}

async function findProblem({ bundles, address, serverName, patience = defaultPatience }: SelfCheckOptions): Promise<string | undefined> {
  const bundle = await bundles.read();
  if (bundle === undefined) return 'ValidatingWebhookConfiguration not found';
  // Without a bundle the API server trusts what its own system trusts.
  const trust = bundle.certificates.length === 0 ? {} : { ca: joinPem(bundle.certificates) };
  const refusal = await shakeHands({ ...address, servername: serverName, timeout: patience, ...trust });
  return refusal === undefined ? undefined : `the ValidatingWebhookConfiguration does not trust the serving certificate (${refusal})`;
}

/** Opens a TLS connection and closes it again. Resolves with what is wrong, if anything; rejects where no answer came in time. */
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
