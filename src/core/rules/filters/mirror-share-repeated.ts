import { demand, specificationRule } from '../engine/demand.ts';
import type { ViewAt } from '../../schema/index.ts';

export const mirrorShareRepeated = specificationRule({
  id: 'mirror-share-repeated',
  summary: 'A mirror sets both percent and fraction.',
  source:
    'Gateway API v1.7.0, HTTPRequestMirrorFilter.percent and .fraction ("Only one of Fraction or Percent may be specified")',
});

type Mirror = ViewAt<'HTTPRoute', 'spec.rules[].filters[].requestMirror'>;

export const oneMirrorShare = demand(mirrorShareRepeated, function judge({ percent, fraction }: Mirror, report) {
  if (percent === undefined || fraction === undefined) return;
  report({
    below: ['percent'],
    value: String(percent),
    message: 'percent conflicts with fraction: both set the share of requests to mirror. Remove one of them.',
  });
});
