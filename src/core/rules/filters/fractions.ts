import { demand, specificationRule } from '../engine/demand.ts';

export const mirrorShareRepeated = specificationRule({
  id: 'mirror-share-repeated',
  summary: 'A mirror says in two ways which part of the requests it is to get.',
  source: 'Gateway API v1.7.0, HTTPRequestMirrorFilter.percent and .fraction ("Only one of Fraction or Percent may be specified")',
});

export const fractionAboveOne = specificationRule({
  id: 'fraction-above-one',
  summary: 'A fraction is greater than one.',
  source: 'Gateway API v1.7.0, Fraction ("numerator must be less than or equal to denominator")',
});

interface Mirror {
  readonly percent?: number;
  readonly fraction?: object;
}

export const oneMirrorShare = demand(mirrorShareRepeated.id, function judge({ percent, fraction }: Mirror, report) {
  if (percent === undefined || fraction === undefined) return;
  report({ below: ['percent'], value: String(percent), message: 'percent and fraction both say how many requests to mirror. Keep one of them.' });
});

interface Fraction {
  readonly numerator?: number;
  readonly denominator?: number;
}

export const fractionUpToOne = demand(fractionAboveOne.id, function judge({ numerator = 0, denominator = 100 }: Fraction, report) {
  if (numerator <= denominator) return;
  report({ below: ['numerator'], value: String(numerator), message: `${numerator} of ${denominator} is more than all. Write a numerator of at most ${denominator}, or a greater denominator.` });
});
