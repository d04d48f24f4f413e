import type { ListenerConfig } from '../../../core/routing/config.ts';
import { printable } from '../../../core/text/display.ts';
import type { Terminal } from '../../terminal.ts';

/** How a Gateway handles a request or a connection, in words. */
export interface Explanation {
  /** `namespace/name`. */
  readonly gateway: string;
  /** See `listenerText`. `undefined` if no listener matches. */
  readonly listener: string | undefined;
  /** The match or route that applies. `undefined` if none does. */
  readonly chosen: string | undefined;
  /** The outcome. */
  readonly lines: readonly string[];
  /** Matches of the listener for this host, in order of precedence up to the one that applies. */
  readonly candidates: readonly { readonly name: string; readonly remark: string }[];
  /** Number of matches for other hosts. */
  readonly others: number;
}

/** Prints an explanation for people. Values of objects are escaped. */
export function printExplanation(
  terminal: Terminal,
  { gateway, listener, chosen, lines, candidates, others }: Explanation,
): void {
  const line = (text: string): void => terminal.line(printable(text));
  terminal.heading(`Gateway ${gateway}${listener === undefined ? '' : `, listener ${listener}`}`);
  if (chosen !== undefined) terminal.line(`  ${terminal.style('green', printable(chosen))}`);
  for (const text of lines) line(`${chosen === undefined ? '  ' : '    '}${text}`);
  if (candidates.length + others === 0) return;
  terminal.line('  Candidates in order of precedence');
  for (const { name, remark } of candidates) line(`    ${name.padEnd(44)} ${remark}`);
  if (others > 0) terminal.line(`    (and ${others} for other hosts)`);
}

/** Formats the listener of an explanation: its name and its hostname. */
export function listenerText({ name, hostname }: Pick<ListenerConfig, 'name' | 'hostname'>): string {
  return `${name}${hostname === undefined ? '' : ` (${hostname})`}`;
}
