import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Where a command writes for people. */
export interface Terminal {
  line(text?: string): void;
  heading(text: string): void;
  /** Styled where a person looks on, plain otherwise (NO_COLOR and FORCE_COLOR are honoured). */
  readonly style: (style: Style, text: string) => string;
}

/** A terminal on a stream; `process.stdout` unless told. */
export function createTerminal(stream: NodeJS.WriteStream = process.stdout): Terminal {
  // Who reads may leave early (`sallyport explain … | head`); that is no fault.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
  const style = (format: Style, text: string): string => styleText(format, text, { stream });
  const line = (text = ''): void => void stream.write(`${text}\n`);
  return { line, style, heading: (text) => line(`\n${style('bold', text)}`) };
}
