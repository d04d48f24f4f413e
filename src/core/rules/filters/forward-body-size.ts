import { unenforcedRule } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';

/** Bundles that have the field, but not the bounds that Go clients of their time decode by. */
export const forwardBodySize = unenforcedRule({
  id: 'forward-body-size',
  summary: 'The size of a body to forward fits no 16 bits, by which clients of that release read it.',
  effect: denied,
  source: 'Gateway API v1.6.1, ForwardBodyConfig.maxSize (uint16); v1.7.0, minimum 0',
}, function judge(size: number, report) {
  if (size >= 0 && size <= 65_535) return;
  report({ below: [], value: String(size), message: `maxSize is ${size}, but clients of this release read numbers from 0 to 65535, and fail on a list with any other. Write a number in that range.` });
});
