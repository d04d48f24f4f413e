import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Output of a command for people. */
export interface Terminal {
  line(text?: string): void;
  heading(text: string): void;
  /** Styles the text if the stream is a terminal (honors NO_COLOR and FORCE_COLOR), otherwise returns it unchanged. */
  readonly style: (style: Style, text: string) => string;
}

/** Creates a terminal on a stream. Default: `process.stdout`. */
export function createTerminal(stream: NodeJS.WriteStream = process.stdout): Terminal {
  stream.on('error', endWithoutOutput);
  const style = (format: Style, text: string): string => styleText(format, text, { stream });
  const line = (text = ''): void => void stream.write(`${text}\n`);
  return { line, style, heading: (text) => line(`\n${style('bold', text)}`) };
}

function endWithoutOutput(error: NodeJS.ErrnoException): never {
  // The reader may close the pipe early (`sallyport explain … | head`). That is not an error.
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(`sallyport: cannot write the output: ${error.message}\n`);
  process.exit(2);
}
