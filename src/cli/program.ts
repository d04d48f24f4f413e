import { Command, InvalidArgumentError, Option } from 'commander';
import { profiles, type Profile } from '../core/rules/rule.ts';

/** Reads the arguments and runs the command they name; commands are loaded only when they are asked for. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('sallyport')
    .description('Guards Kubernetes clusters that use the Gateway API: validates, explains and serves its objects')
    .showHelpAfterError('(add --help for all options)');

  program
    .command('run')
    .description('validate and serve a folder of objects on this machine: proxy, webhook, probes; follows every change')
    .requiredOption('-f, --files <path>', 'file or folder of YAML or JSON; may be repeated', collect)
    .option('--demo', 'start a small echo backend for every loopback endpoint', false)
    .option('--no-access-log', 'do not log requests')
    .addOption(profileOption())
    .option('--webhook-port <port>', 'port of the webhook, 0 for any', parsePort, 9443)
    .option('--probe-port <port>', 'port of probes and metrics, 0 for any', parsePort, 9090)
    .option('--grace <seconds>', 'how long requests in flight may take at the end', parseSeconds, 10)
    .action(async (options: RunArguments) => {
      const { run } = await import('./run.ts');
      const { stop } = await run({ ...options, grace: options.grace * 1000 });
      await untilStopped();
      await stop();
    });

  await program.parseAsync([...argv]);
}

interface RunArguments {
  readonly files: readonly string[];
  readonly demo: boolean;
  readonly accessLog: boolean;
  readonly profile: Profile;
  readonly webhookPort: number;
  readonly probePort: number;
  readonly grace: number;
}

function profileOption(): Option {
  return new Option('--profile <name>', 'what findings do in admission').choices([...profiles]).default('standard');
}

function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('Write a port from 0 to 65535.');
  return port;
}

function parseSeconds(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('Write whole seconds, for example 10.');
  return Number(text);
}

/** Resolves at SIGTERM or SIGINT; a second signal ends the process at once. */
async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        resolve();
        process.once(signal, () => process.exit(1));
      });
    }
  });
}
