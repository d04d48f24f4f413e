import { createClient, loadCredentials, type CredentialSource } from '../../kubernetes/index.ts';
import { jsonText } from '../report/json-text.ts';
import { createTerminal } from '../terminal.ts';
import { orUsageError } from '../usage-error.ts';
import type { Installation } from './facts.ts';
import { gatherFacts } from './gather.ts';
import { diagnose, exitCodeOf, printVerdicts } from './report.ts';

/** Settings of `sallyport doctor`. */
export interface DoctorOptions {
  readonly installation: Installation;
  readonly credentials: CredentialSource;
  readonly output: 'text' | 'json';
}

/**
 * Checks a cluster and prints the results. Writes nothing: the probe is a dry run.
 *
 * @returns the exit code: 1 if a check failed
 * @throws UsageError if there are no credentials
 */
export async function doctor({ installation, credentials, output }: DoctorOptions): Promise<number> {
  const client = createClient(await orUsageError('the kubeconfig', loadCredentials(credentials)));
  try {
    const verdicts = diagnose(await gatherFacts(client, installation));
    const terminal = createTerminal();
    if (output === 'json') terminal.line(jsonText({ verdicts }, 2));
    else printVerdicts(terminal, verdicts);
    return exitCodeOf(verdicts);
  } finally {
    await client.close();
  }
}
