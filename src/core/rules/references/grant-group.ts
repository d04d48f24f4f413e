import { kindsByGroup } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { type ReportViolation, unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Party } from './grants.ts';

function judgeGroup({ group = '', kind = '' }: Party, report: ReportViolation): void {
  const known = kindsByGroup.get(group);
  const near = known === undefined || known.has(kind) ? undefined : nearest(kind, known);
  if (near !== undefined)
    report({
      below: ['kind'],
      value: display(kind),
      message: `Kind ${quote(kind)} not found in group ${quote(group)}, so the entry grants nothing. Did you mean ${near}?`,
    });
  const wanted = kindsByGroup.entries().find(([, kinds]) => kinds.has(kind))?.[0];
  if (wanted === undefined || wanted === group) return;
  report({
    below: ['group'],
    value: display(group),
    message: `Kind ${kind} not found in group ${quote(group)}, so the entry grants nothing. Use group: ${wanted === '' ? '""' : wanted}.`,
  });
}

export const grantGroup = unenforcedRule(
  {
    id: 'grant-group',
    summary: 'The group and kind of a ReferenceGrant do not match.',
    effect: warned,
    source: 'Gateway API v1.7.0, ReferenceGrantFrom.group and ReferenceGrantTo.group',
  },
  judgeGroup,
);
