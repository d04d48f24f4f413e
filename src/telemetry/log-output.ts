/** The destination of log lines, e.g. `process.stderr`. */
export interface LogDestination {
  readonly isTTY?: boolean;
  /** Characters that were written and wait to be read. A destination without it keeps nothing. */
  readonly writableLength?: number;
  write(line: string): unknown;
  /** Present if a write can fail later. */
  on?(event: 'error', listener: () => void): unknown;
}

/** Characters of lines that may wait. Node keeps what a pipe has no room for, without a limit. */
const maxWaiting = 4 * 1024 * 1024;

/**
 * Writes lines to a destination, and omits those that it has no room for: a log that nobody reads, or that is read more slowly than it is
 * written, must not fill the memory. Ignores errors: a full disk, or a reader of the log that has ended, must not end the process.
 */
export class LogOutput {
  private readonly destination: LogDestination;
  private omittedLines = 0;

  constructor(destination: LogDestination) {
    this.destination = destination;
    destination.on?.('error', () => undefined);
  }

  /** Lines that were not written. */
  get omitted(): number {
    return this.omittedLines;
  }

  /** Writes whole lines. */
  write(lines: string): void {
    const { writableLength = 0 } = this.destination;
    if (writableLength < maxWaiting) this.destination.write(lines);
    else this.omittedLines += lines.split('\n').length - 1;
  }
}

const outputs = new WeakMap<LogDestination, LogOutput>();

/** Returns the output to a destination: the same one for all that write to it. */
export function outputTo(destination: LogDestination): LogOutput {
  const output = outputs.get(destination) ?? new LogOutput(destination);
  outputs.set(destination, output);
  return output;
}
