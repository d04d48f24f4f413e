import { pino, stdTimeFunctions, type Logger } from 'pino';
import { formatLine } from './line.ts';
import { redactLine } from './redact.ts';

export type { Logger } from 'pino';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The destination of log lines, e.g. `process.stderr`. */
export interface LogDestination {
  readonly isTTY?: boolean;
  write(line: string): unknown;
  /** Present if a write can fail later. */
  on?(event: 'error', listener: () => void): unknown;
}

/** Destinations whose errors are ignored: a full disk, or a reader of the log that has ended, must not end the process. */
const guarded = new WeakSet<LogDestination>();

/**
 * Creates a logger that writes one JSON object per line, or one readable line per entry to a terminal. Messages are
 * constants; variable parts are fields: `log.info({ gateway: 'shop/web' }, 'gateway ready')`. Values that look like
 * secrets are redacted.
 */
export function createLogger(level: LogLevel, destination: LogDestination = process.stderr): Logger {
  if (!guarded.has(destination)) destination.on?.('error', () => undefined);
  guarded.add(destination);
  const format = destination.isTTY === true ? formatLine : (line: string) => line;
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, { write: (line) => void destination.write(format(redactLine(line))) });
}
