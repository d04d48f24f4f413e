import type { BudgetPart, Withheld } from '../channel/budget.ts';
import { withheldCell, type WithheldFacts } from '../core/graph/inputs.ts';
import { write, type Write } from '../core/incremental/index.ts';
import { argsOfName } from '../core/resources/reference.ts';
import type { ConfigKey } from '../core/routing/config.ts';

type WithheldByKey = ReadonlyMap<ConfigKey, Withheld>;

/** Returns the inputs of the evaluation about the resources that a Gateway (`namespace/name`) has no room for. */
export function withheldWrites(gateway: string, before: WithheldByKey, now: WithheldByKey): readonly Write[] {
  const byNamespace = Map.groupBy(now, ([, { namespace }]) => namespace);
  const namespaces = new Set([...[...before.values()].map(({ namespace }) => namespace), ...byNamespace.keys()]);
  return [...namespaces].map((namespace) => {
    const entries = byNamespace
      .get(namespace)
      ?.map(([key, { bytes, limit }]): [ConfigKey, WithheldFacts] => [key, { bytes, limit }]);
    return write(withheldCell, [...argsOfName(gateway), namespace], entries && Object.fromEntries(entries));
  });
}

const names: Readonly<Record<BudgetPart, string>> = {
  routes: 'routes',
  endpoints: 'endpoints of backends',
  listeners: 'listeners or certificates',
};

const shown = 3;

/** Returns a remark about these resources; `''` if there are none. It contains no numbers, so it stays the same as long as possible. */
export function remarkOnWithheld(withheld: WithheldByKey): string {
  if (withheld.size === 0) return '';
  const whose = [
    ...new Set(
      Array.from(
        withheld.values(),
        ({ part, namespace, limit }) =>
          `${names[part]} of namespace ${namespace} (limit for all namespaces: ${Math.round(limit / 2 ** 20)} MiB)`,
      ),
    ),
  ].sort();
  const more = whose.length - shown;
  return `The configuration of the Gateway is too large. Some objects are not served: ${whose.slice(0, shown).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}
