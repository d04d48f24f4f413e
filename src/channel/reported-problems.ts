import type { ConfigKey } from '../core/routing/config.ts';
import { printable } from '../core/text/display.ts';
import type { ResourceProblem } from './messages.ts';
import { maxProblemCharacters } from './wire.ts';

/** Maximum characters of a message: a data plane sends no longer ones, and it becomes the message of a condition. */
const longestMessage = 1_024;

/** The problems that a proxy reported, by the key of the resource, with their size in characters. */
export interface ReportedProblems {
  readonly messages: ReadonlyMap<ConfigKey, string>;
  readonly size: number;
}

export const noProblems: ReportedProblems = { messages: new Map(), size: 0 };

/**
 * The problems of all proxies of a Gateway. They are kept as long as their proxies are connected, so their size is limited, and only
 * problems of resources that exist are kept.
 */
export class ProblemStore {
  private readonly isKnown: (key: ConfigKey) => boolean;
  private size = 0;

  /** `isKnown` says whether a key is that of a resource that exists. */
  constructor(isKnown: (key: ConfigKey) => boolean) {
    this.isKnown = isKnown;
  }

  /** Keeps the problems of a proxy instead of those before. Leaves out those for which there is no room. */
  replace(before: ReportedProblems, problems: readonly ResourceProblem[]): ReportedProblems {
    this.size -= before.size;
    const messages = new Map<ConfigKey, string>();
    let size = 0;
    for (const { key, message: full } of problems) {
      if (messages.has(key) || !this.isKnown(key)) continue;
      const message = printable(full, longestMessage);
      const more = key.length + message.length;
      if (this.size + size + more > maxProblemCharacters) break;
      size += more;
      messages.set(key, message);
    }
    this.size += size;
    return { messages, size };
  }
}
