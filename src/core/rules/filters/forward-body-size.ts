import { unenforcedRule } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';

/** For bundles whose field has no bounds, although Go clients of that release decode it as uint16. */
export const forwardBodySize = unenforcedRule(
  {
    id: 'forward-body-size',
    summary: 'The maximum size of a forwarded body exceeds 16 bits, which clients of that release use.',
    effect: denied,
    source: 'Gateway API v1.6.1, ForwardBodyConfig.maxSize (uint16); v1.7.0, minimum 0',
  },
  function judge(size: number, report) {
    if (size >= 0 && size <= 65_535) return;
    report({
      below: [],
      value: String(size),
      message: `Invalid maxSize ${size}: must be between 0 and 65535. Clients of this release fail to read lists that contain other values.`,
    });
  },
);
