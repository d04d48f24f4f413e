import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

interface Options {
  readonly stdin?: string;
  /** Variables in addition to those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Seconds after which a command or a wait is worth a line in the output, so that slow runs can be explained. */
export const slow = 30;

/** Runs kubectl as a user would, against the cluster of KUBECONFIG. Its exit code is a result, no error. */
export async function kubectl(
  args: readonly string[],
  { stdin = '', environment = {} }: Options = {},
): Promise<Outcome> {
  const begin = performance.now();
  const child = spawn('kubectl', args, { env: { ...process.env, ...environment } });
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject).on('close', (code) => {
      resolve(code ?? -1);
    });
  });
  // A kubectl that ends before it has read everything closes the pipe: its exit code tells more than EPIPE.
  child.stdin.on('error', () => {}).end(stdin);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const seconds = Math.round((performance.now() - begin) / 1000);
  if (seconds > slow) console.log(`${seconds} s, exit code ${code}: kubectl ${args.join(' ')}\n${stderr}`);
  return { stdout, stderr, code };
}

/** What kubectl prints on stdout; throws with its stderr where it fails. */
export async function kubectlOutput(args: readonly string[], options: Options = {}): Promise<string> {
  const { stdout, stderr, code } = await kubectl(args, options);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}

/** One object or list as JSON; throws where there is none. */
export async function getObject<T>(args: readonly string[]): Promise<T> {
  return JSON.parse(await kubectlOutput(['get', ...args, '-o', 'json'])) as T;
}

/** Applies objects, in YAML or as values; throws with what the API server said where one is refused. */
export async function apply(...objects: readonly (string | object)[]): Promise<void> {
  const stdin = objects.map((object) => (typeof object === 'string' ? object : JSON.stringify(object))).join('\n---\n');
  await kubectlOutput(['apply', '--server-side', '-f', '-'], { stdin });
}
