import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';

export interface PluginLimits {
  /** Milliseconds until a plugin ends. Some wait until a user has logged in with a browser. */
  readonly duration: number;
  /** Bytes that a plugin prints. */
  readonly output: number;
}

const defaultLimits: PluginLimits = { duration: 300_000, output: 1_024 * 1_024 };

/** What the official client, which has no limits for plugins, calls to start one. */
interface ExecAuthenticator {
  execFn: (command: string, args: readonly string[] | undefined, options: SpawnOptions) => ChildProcess;
}

/** Limits the exec plugins of a kubeconfig: one that never ends, or prints without end, must not keep a command waiting or fill the memory. */
export function limitPlugins(config: object, limits: PluginLimits = defaultLimits): void {
  const { authenticators = [] } = config as { readonly authenticators?: readonly object[] };
  for (const authenticator of authenticators)
    if (isExecAuthenticator(authenticator))
      authenticator.execFn = (command, args, options) => start(spawn(command, args ?? [], options), command, limits);
}

function isExecAuthenticator(authenticator: object): authenticator is ExecAuthenticator {
  return 'execFn' in authenticator;
}

function start(plugin: ChildProcess, command: string, { duration, output }: PluginLimits): ChildProcess {
  const end = (problem: string): void => {
    // The client fails with this error, once the streams are closed: programs that the plugin started may hold them open.
    plugin.emit('error', new Error(`the plugin ${JSON.stringify(command)} of the kubeconfig ${problem}`));
    plugin.kill('SIGKILL');
    plugin.stdout?.destroy();
    plugin.stderr?.destroy();
  };
  const timer = setTimeout(() => end(`did not end within ${duration / 1_000} seconds`), duration);
  plugin.once('close', () => clearTimeout(timer));
  let printed = 0;
  const count = (chunk: Buffer | string): void => {
    printed += chunk.length;
    if (printed > output) end(`printed more than ${output} bytes`);
  };
  plugin.stdout?.on('data', count);
  plugin.stderr?.on('data', count);
  // One that cannot be started has an error of its own.
  plugin.stdin?.on('error', () => undefined).end();
  return plugin;
}
