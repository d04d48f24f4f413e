import { since } from '../availability.ts';
import { list, object } from '../node.ts';
import { atomic, ruleName, weightedBackendFields } from './common.ts';

const backendRefs = list(object(weightedBackendFields, { required: ['name'] }), {
  minItems: 1,
  maxItems: 16,
  listType: atomic,
});

const rule = object({ backendRefs, name: ruleName }, { required: [since('1.4', 'backendRefs')] });

/** The rules of routes that forward streams and datagrams unchanged; they have no filters. */
export function streamRules(maxItems: number) {
  return list(rule, { minItems: 1, maxItems, listType: atomic });
}
