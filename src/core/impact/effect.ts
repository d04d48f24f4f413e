/** The effect of a change: an object stops working, works again, or works differently. */
export type Effect = 'broken' | 'recovered' | 'changed';

/**
 * Compares whether an object worked before a change and works after it.
 *
 * @param before whether it worked before the change
 * @param after whether it works after the change
 */
export function effectOf(before: boolean, after: boolean): Effect {
  if (before === after) return 'changed';
  return before ? 'broken' : 'recovered';
}
