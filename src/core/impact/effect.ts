/** How a change affects something: it stops working, works again, or works differently. */
export type Effect = 'broken' | 'recovered' | 'changed';

/**
 * Compares two states of something that works or does not.
 *
 * @param before whether it worked before the change
 * @param after whether it works after the change
 */
export function effectOf(before: boolean, after: boolean): Effect {
  if (before === after) return 'changed';
  return before ? 'broken' : 'recovered';
}
