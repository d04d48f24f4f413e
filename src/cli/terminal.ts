import { styleText } from 'node:util';
import { printable } from '../core/text/display.ts';
import { outputTo } from '../telemetry/log-output.ts';

type Style = Parameters<typeof styleText>[0];

/** Output of a command for people. */
export interface Terminal {
  /** The text may be styled: escape what users write in it. */
  line(text?: string): void;
  /** Invisible characters of the text are escaped. */
  heading(text: string): void;
  /** Styles the text if the stream is a terminal (honors NO_COLOR and FORCE_COLOR), otherwise returns it unchanged. */
  readonly style: (style: Style, text: string) => string;
}

/** Creates a terminal on standard output, without which the command ends. */
export function createTerminal(): Terminal {
  process.stdout.on('error', endWithoutOutput);
  return terminalOn(process.stdout, process.stdout);
}

/** Like `createTerminal`, for a process that serves traffic: it goes on without its output, and omits lines that nobody reads. */
export function createServingTerminal(): Terminal {
  return terminalOn(process.stdout, outputTo(process.stdout));
}

function terminalOn(stream: NodeJS.WriteStream, output: { write(text: string): unknown }): Terminal {
  const style = (format: Style, text: string): string => styleText(format, text, { stream });
  const line = (text = ''): void => void output.write(`${text}\n`);
  return { line, style, heading: (text) => line(`\n${style('bold', printable(text))}`) };
}

function endWithoutOutput(error: NodeJS.ErrnoException): never {
  // The reader may close the pipe early (`sallyport explain … | head`). That is not an error.
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(`sallyport: cannot write the output: ${error.message}\n`);
  process.exit(2);
}
