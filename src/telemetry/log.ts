import { pino, stdTimeFunctions, type Logger } from 'pino';
import { formatLine } from './line.ts';
import { redactLine } from './redact.ts';

export type { Logger } from 'pino';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Where log lines go, e.g. `process.stderr`. */
export interface LogDestination {
  readonly isTTY?: boolean;
  write(line: string): unknown;
}

/**
 * A logger: one JSON object a line, or one readable line each where a person looks on (a terminal). Messages are
 * constants and what varies goes beside them: `log.info({ gateway: 'shop/web' }, 'gateway ready')`. Whatever looks
 * like a secret is replaced on the way out.
 */
export function createLogger(level: LogLevel, destination: LogDestination = process.stderr): Logger {
  const format = destination.isTTY === true ? formatLine : (line: string) => line;
  const options = { level, base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: (label: string) => ({ level: label }) } };
  return pino(options, { write: (line) => void destination.write(format(redactLine(line))) });
}
