import { X509Certificate } from 'node:crypto';
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '../telemetry/index.ts';
import { checkMaterial, type TlsSecret } from './facts.ts';
import { startRounds } from './rounds.ts';
import { createCertificateSource, type CertificateMaterial, type CertificateSource } from './source.ts';

export interface CertificateFiles {
  /** The leaf first, then intermediates, as PEM. */
  readonly certificateFile: string;
  readonly privateKeyFile: string;
}

export interface WatchedCertificate {
  readonly source: CertificateSource;
  readonly stop: () => Promise<void>;
}

/** Milliseconds. Files on network mounts bring no events. */
const pollInterval = 10_000;

/**
 * Follows a certificate and its key in files, as cert-manager's Secret is mounted or as somebody copies them. A new
 * pair takes effect at once; one that is incomplete or does not fit together is logged once and changes nothing.
 *
 * @throws where the first pair cannot be used, with the reason
 */
export async function watchCertificateFiles(files: CertificateFiles, log: Logger): Promise<WatchedCertificate> {
  const first = await readPair(files);
  if (first.type === 'unusable') throw new Error(first.problem);
  const source = createCertificateSource(first.material);
  let reported = '';
  const round = async (): Promise<number> => {
    const read = await readPair(files);
    const problem = read.type === 'unusable' ? read.problem : '';
    if (problem !== '' && problem !== reported) log.warn({ ...files, problem }, 'invalid certificate files, the previous certificate stays in use');
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

/** When the leaf expires, in seconds since 1970; `undefined` where it cannot be read. */
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
    const [certificate, privateKey] = await Promise.all([readFile(certificateFile, 'utf8'), readFile(privateKeyFile, 'utf8')]);
    return checkMaterial({ certificate, privateKey }, names);
  } catch (error) {
    return { type: 'unusable', problem: error instanceof Error ? error.message : String(error) };
  }
}

function differs(one: CertificateMaterial, other: CertificateMaterial): boolean {
  return one.certificate !== other.certificate || one.privateKey !== other.privateKey;
}

/** The folder and not the file: Secret volumes are replaced as a whole, by renaming a link beside them. */
function watchFolder(folder: string, listener: () => void): () => void {
  try {
    const watcher = watch(folder, listener);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    // Polling still notices changes.
    return () => undefined;
  }
}
