import type { OtherListener } from '../../graph/gateway-listeners.ts';
import type { ListenerOwner } from '../../graph/listener-sets.ts';
import { quoteRef } from '../../resources/reference.ts';

/** Listeners of the same owner go by their names alone. */
export function nameOthers(others: readonly OtherListener[], owner: ListenerOwner): string {
  const isOwn = ({ kind, namespace, name }: OtherListener): boolean => kind === owner.kind && namespace === owner.namespace && name === owner.name;
  return others.map((other) => (isOwn(other) ? other.listener : `${other.listener} of ${quoteRef(other)}`)).join(', ');
}
