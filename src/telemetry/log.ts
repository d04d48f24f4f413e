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
}

/**
 * Creates a logger that writes one JSON object per line, or one readable line per entry to a terminal. Messages are
 * constants; variable parts are fields: `log.info({ gateway: 'shop/web' }, 'gateway ready')`. Values that look like
 * secrets are redacted.
 */
export function createLogger(level: LogLevel, destination: LogDestination = process.stderr): Logger {
  const format = destination.isTTY === true ? formatLine : (line: string) => line;
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, { write: (line) => void destination.write(format(redactLine(line))) });
}
