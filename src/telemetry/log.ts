import { pino, stdTimeFunctions, type Logger } from 'pino';
import { formatLine } from './line.ts';
import { outputTo, type LogDestination } from './log-output.ts';
import { redactLine } from './redact.ts';

export type { Logger } from 'pino';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Creates a logger that writes one JSON object per line, or one readable line per entry to a terminal. Messages are
 * constants; variable parts are fields: `log.info({ gateway: 'shop/web' }, 'gateway ready')`. Values that look like
 * secrets are redacted.
 */
export function createLogger(level: LogLevel, destination: LogDestination = process.stderr): Logger {
  const output = outputTo(destination);
  const format = destination.isTTY === true ? formatLine : (line: string) => line;
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, { write: (line) => output.write(format(redactLine(line))) });
}
