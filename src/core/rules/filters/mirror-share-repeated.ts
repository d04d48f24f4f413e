import { demand, specificationRule } from '../engine/demand.ts';

export const mirrorShareRepeated = specificationRule({
  id: 'mirror-share-repeated',
  summary: 'A mirror says in two ways which part of the requests it is to get.',
  source: 'Gateway API v1.7.0, HTTPRequestMirrorFilter.percent and .fraction ("Only one of Fraction or Percent may be specified")',
});

interface Mirror {
  readonly percent?: number;
  readonly fraction?: object;
}

export const oneMirrorShare = demand(mirrorShareRepeated, function judge({ percent, fraction }: Mirror, report) {
  if (percent === undefined || fraction === undefined) return;
  report({ below: ['percent'], value: String(percent), message: 'percent and fraction both say how many requests to mirror. Keep one of them.' });
});
