import { gatewayGroup } from '../../schema/index.ts';
import { parentNode } from '../../semantics/parent-reference.ts';
import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import type { ParentRefView } from './parents.ts';

/** The group of each kind of parent. */
const parentGroups: ReadonlyMap<string, string> = new Map([
  ['Gateway', gatewayGroup],
  ['ListenerSet', gatewayGroup],
  ['Service', ''],
]);

export const parentGroup = unenforcedRule(
  {
    id: 'parent-group',
    summary: 'The group and kind of a parentRef do not match.',
    effect: deniedWhenStrict,
    source:
      'Gateway API v1.7.0, ParentReference.group ("Group must be explicitly set to "" (empty string)" for a Service)',
  },
  function judge(ref: ParentRefView, report) {
    const { group, kind } = parentNode(ref, '');
    const wanted = parentGroups.get(kind);
    if (wanted === undefined || wanted === group) return;
    const cure =
      wanted === ''
        ? 'Use group: "" (the default is the group of the Gateway API)'
        : `Remove group, or use group: ${wanted}`;
    report({
      below: ['group'],
      value: display(group),
      message: `Kind ${kind} not found in group ${quote(group)}, so the parentRef has no effect. ${cure}.`,
    });
  },
);
