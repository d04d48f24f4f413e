import { spawn, spawnSync } from 'node:child_process';

/** Whether this command can be run. */
export function isInstalled(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** The first version number in what the command says about itself. */
export function versionOf(command: string, option = '--version'): string {
  const { stdout, stderr } = spawnSync(command, [option], { encoding: 'utf8' });
  return /\d+(?:\.\d+)+/.exec(stdout + stderr)?.[0] ?? 'of unknown version';
}

/** Runs a command to its end, for two minutes at most, and rejects with what it said if it fails. */
export async function run(command: string, args: readonly string[], input?: Buffer): Promise<Buffer> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout: 120_000, killSignal: 'SIGKILL' });
  const printed: Buffer[] = [];
  let complaint = '';
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  // A command that ends before it has read everything says why itself.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const code = await new Promise((resolve, reject) => {
    child.on('close', resolve).on('error', reject);
  });
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}: ${complaint.slice(-500)}`);
  return Buffer.concat(printed);
}

/** The version of a Go module in a program that was built from it. */
export function versionOfModule(program: string, module: string): string {
  const { stdout } = spawnSync('go', ['version', '-m', program], { encoding: 'utf8' });
  return (
    stdout
      .split('\n')
      .find((line) => line.includes(`\t${module}\t`))
      ?.split('\t')[3] ?? 'of unknown version'
  );
}
