import { Command } from 'commander';
import { printable } from '../core/text/display.ts';
import { packageVersion } from './package-files.ts';
import { isUsageError } from './usage-error.ts';
import { addObjectCommands } from './commands/objects.ts';
import { addProcessCommands } from './commands/processes.ts';

/** Parses the arguments and runs the command. A command is loaded only when it is used. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('sallyport')
    .description('Validates, explains and serves Gateway API objects')
    .option('--version', 'print the version and exit')
    .on('option:version', () => {
      process.stdout.write(`${packageVersion()}\n`);
      process.exit();
    })
    .showHelpAfterError('(add --help for all options)')
    // It quotes arguments, which a shell may have read from a folder of others: a file can have the name of an option (`check *`).
    .configureOutput({ outputError: (text, write) => write(escaped(text)) });

  addObjectCommands(program);
  addProcessCommands(program);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    // It may name files and quote kubeconfigs of others, whose names and texts must not control the terminal.
    process.stderr.write(`sallyport: ${escaped(describeError(error))}\n`);
    process.exitCode ??= 1;
  }
}

/** Escapes the invisible characters of each line. */
function escaped(text: string): string {
  return text
    .split('\n')
    .map((line) => printable(line))
    .join('\n');
}

/** Describes an error to an operator. It includes a stack only for internal errors. */
function describeError(error: unknown): string {
  const { code, address, port } = error as {
    readonly code?: string;
    readonly address?: string;
    readonly port?: number;
  };
  if (code === 'EADDRINUSE')
    return `port ${port} on ${address} is already in use; stop the other process or choose another port (see --help)`;
  if (isUsageError(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
