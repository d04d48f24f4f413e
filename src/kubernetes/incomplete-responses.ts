import type { IncomingMessage } from 'node:http';
import { SharedBudget } from '../core/text/shared-budget.ts';
import { ResponseTooLongError } from './errors.ts';
import { longestResponses } from './limits.ts';

/**
 * The incomplete responses of one client, and the incomplete lines of its watches. Each may be long, but not all of them at once: beyond the
 * limit, the longest ends with a ResponseTooLongError, and the others continue.
 */
export class IncompleteResponses {
  private readonly budget = new SharedBudget(longestResponses);

  /** Begins to follow a response. Call the result with the number of characters that are held, whenever it changes. */
  follow(response: IncomingMessage): (characters: number) => void {
    let held = 0;
    const sharer = {
      held: () => (response.destroyed ? 0 : held),
      end: () =>
        response.destroy(new ResponseTooLongError(`incomplete responses of more than ${longestResponses} characters`)),
    };
    response.once('close', () => this.budget.remove(sharer));
    return (characters) => {
      held = characters;
      if (!response.destroyed) this.budget.count(sharer);
    };
  }
}
