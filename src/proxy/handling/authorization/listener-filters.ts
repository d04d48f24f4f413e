import type { ListenerConfig } from '../../../core/routing/config.ts';
import { prepareListenerFilters } from '../../../core/routing/decision/authorization.ts';
import type { Authorization } from '../../../core/routing/decision/authorization.ts';

const none: readonly Authorization[] = [];
const prepared = new WeakMap<ListenerConfig, readonly Authorization[]>();

/** Returns the prepared filters of a listener, in order. They are prepared once. */
export function filtersOf(listener: ListenerConfig): readonly Authorization[] {
  if (listener.filters === undefined) return none;
  const known = prepared.get(listener) ?? prepareListenerFilters(listener);
  prepared.set(listener, known);
  return known;
}
