import { demand, specificationRule } from '../engine/demand.ts';

export const fractionAboveOne = specificationRule({
  id: 'fraction-above-one',
  summary: 'A fraction is greater than one.',
  source: 'Gateway API v1.7.0, Fraction ("numerator must be less than or equal to denominator")',
});

interface Fraction {
  readonly numerator?: number;
  readonly denominator?: number;
}

export const fractionUpToOne = demand(
  fractionAboveOne,
  function judge({ numerator = 0, denominator = 100 }: Fraction, report) {
    if (numerator <= denominator) return;
    report({
      below: ['numerator'],
      value: String(numerator),
      message: `Invalid numerator ${numerator}: must be at most the denominator ${denominator}. Use a smaller numerator, or a greater denominator.`,
    });
  },
);
