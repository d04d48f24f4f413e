/** The effect of a change: an object stops working, works again, or works differently. */
export type Effect = 'broken' | 'recovered' | 'changed';

/**
 * Compares whether an object worked before a change and works after it.
 *
 * @param before whether it worked before the change; `undefined` if that is unknown
 * @param after whether it works after the change; `undefined` if that is unknown
 */
export function effectOf(before: boolean | undefined, after: boolean | undefined): Effect {
  if (before === after || before === undefined || after === undefined) return 'changed';
  return before ? 'broken' : 'recovered';
}
