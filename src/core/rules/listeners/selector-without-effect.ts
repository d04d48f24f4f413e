import { type ViewAt } from '../../schema/index.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import { routesFrom } from '../../semantics/intended.ts';

type Namespaces = ViewAt<'Gateway', 'spec.listeners[].allowedRoutes.namespaces'>;

export const selectorWithoutEffect = unenforcedRule(
  {
    id: 'selector-without-effect',
    summary: 'A namespace selector is ignored because from is not Selector.',
    effect: warned,
    source: 'Gateway API v1.7.0, RouteNamespaces.selector ("ignored for other values of From")',
  },
  function judge(namespaces: Namespaces, report) {
    const from = routesFrom(namespaces);
    if (namespaces.selector === undefined || from === 'Selector') return;
    report({
      below: ['selector'],
      message: `selector is ignored because from is ${from}. Use from: Selector, or remove selector.`,
    });
  },
);
