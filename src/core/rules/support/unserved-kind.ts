import type { SchemaKind } from '../../schema/index.ts';
import { warned } from '../engine/effects.ts';
import type { Finding, Rule } from '../engine/rule.ts';

/** Asked of kinds that take no part in evaluation: a kind that is served takes part, and leaves this rule by itself. */
export const unservedKind: Rule = {
  id: 'unserved-kind',
  summary: 'Sallyport does not support this kind, so the object has no effect.',
  about: 'dialect',
  effect: warned,
  source: 'Gateway API v1.7.0, "Conformance" (support levels); docs/conformance.md',
};

/** What is to be said of every object of a kind that is not served. */
export function findingOfUnserved(kind: SchemaKind): Finding {
  return { rule: unservedKind.id, path: ['kind'], value: kind, message: `Unsupported kind ${kind}: Sallyport does not serve it yet, so the object has no effect. Its schema and rules are still checked.` };
}
