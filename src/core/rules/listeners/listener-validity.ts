import type { OtherListener } from '../../graph/listeners/gateway-listeners.ts';
import type { ListenerOwner } from '../../graph/listeners/listener-sets.ts';
import { quoteRef } from '../../resources/reference.ts';
import { display } from '../../text/display.ts';

/** Joins the names of other listeners. Listeners of the same owner are named without the owner. */
export function nameOthers(others: readonly OtherListener[], owner: ListenerOwner): string {
  const isOwn = ({ kind, namespace, name }: OtherListener): boolean =>
    kind === owner.kind && namespace === owner.namespace && name === owner.name;
  return others
    .map((other) => {
      const name = display(other.listener);
      return isOwn(other) ? name : `${name} of ${quoteRef(other)}`;
    })
    .join(', ');
}
