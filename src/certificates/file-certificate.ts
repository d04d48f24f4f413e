import { X509Certificate } from 'node:crypto';
import { watch } from 'node:fs';
import { dirname } from 'node:path';
import { readSmallText } from '../files/read-file.ts';
import type { Logger } from '../telemetry/index.ts';
import { checkMaterial, type TlsSecret } from './facts.ts';
import { startRounds } from './rounds.ts';
import { createCertificateSource, type CertificateMaterial, type CertificateSource } from './source.ts';

export interface CertificateFiles {
  /** PEM: the leaf first, then intermediates. */
  readonly certificateFile: string;
  readonly privateKeyFile: string;
}

export interface WatchedCertificate {
  readonly source: CertificateSource;
  readonly stop: () => Promise<void>;
}

/** Milliseconds. Network mounts send no file events. */
const pollInterval = 10_000;

/**
 * Watches a certificate and its key in files, for example in a Secret mounted for cert-manager. A new pair takes effect at once. A
 * pair that is incomplete or does not match is logged once and ignored.
 *
 * @throws if the first pair is unusable, with the reason
 */
export async function watchCertificateFiles(files: CertificateFiles, log: Logger): Promise<WatchedCertificate> {
  const first = await readPair(files);
  if (first.type === 'unusable') throw new Error(first.problem);
  const source = createCertificateSource(first.material);
  let reported = '';
  const round = async (): Promise<number> => {
    const read = await readPair(files);
    const problem = read.type === 'unusable' ? read.problem : '';
    if (problem !== '' && problem !== reported)
      log.warn({ ...files, problem }, 'invalid certificate files, the previous certificate stays in use');
    reported = problem;
    if (read.type === 'material' && differs(read.material, source.current())) source.replace(read.material);
    return pollInterval;
  };
  const folders = new Set([dirname(files.certificateFile), dirname(files.privateKeyFile)]);
  const rounds = startRounds(round, {
    longest: pollInterval,
    retry: 1_000,
    onError: (err) => log.warn({ err }, 'cannot read certificate files'),
    wakeOn: [...folders].map((folder) => (listener: () => void) => watchFolder(folder, listener)),
  });
  return { source, stop: rounds.stop };
}

/** The expiry of the leaf in seconds since 1970. `undefined` if it cannot be parsed. */
export function certificateExpiry({ certificate }: CertificateMaterial): number | undefined {
  try {
    return new X509Certificate(certificate).validToDate.getTime() / 1000;
  } catch {
    return undefined;
  }
}

async function readPair({ certificateFile, privateKeyFile }: CertificateFiles): Promise<TlsSecret> {
  const names = { certificate: certificateFile, privateKey: privateKeyFile };
  try {
    const [certificate, privateKey] = await Promise.all([
      readSmallText(certificateFile),
      readSmallText(privateKeyFile),
    ]);
    return checkMaterial({ certificate, privateKey }, names);
  } catch (error) {
    return { type: 'unusable', problem: error instanceof Error ? error.message : String(error) };
  }
}

function differs(one: CertificateMaterial, other: CertificateMaterial): boolean {
  return one.certificate !== other.certificate || one.privateKey !== other.privateKey;
}

/** Watches the folder instead of the file: Secret volumes are replaced as a whole, by renaming a link next to the files. */
function watchFolder(folder: string, listener: () => void): () => void {
  try {
    const watcher = watch(folder, listener);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    // Polling still detects changes.
    return () => undefined;
  }
}
