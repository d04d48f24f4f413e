import type { SchemaKind } from '../../schema/index.ts';
import { warned } from '../engine/effects.ts';
import type { Finding, Rule } from '../engine/rule.ts';

/** Applies to kinds that are not evaluated. A kind that becomes supported is evaluated, and no longer has this finding. */
export const unservedKind: Rule = {
  id: 'unserved-kind',
  summary: 'Sallyport does not support this kind, so the object has no effect.',
  about: 'dialect',
  effect: warned,
  source: 'Gateway API v1.7.0, "Conformance" (support levels); docs/conformance.md',
};

/** Returns the finding for every object of an unsupported kind. */
export function findingOfUnserved(kind: SchemaKind): Finding {
  return {
    rule: unservedKind.id,
    path: ['kind'],
    value: kind,
    message: `Unsupported kind ${kind}: Sallyport does not serve it yet, so the object has no effect. Its schema and rules are still checked.`,
  };
}
