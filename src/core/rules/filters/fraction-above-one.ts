import { shareOf, type FractionView } from '../../semantics/fraction.ts';
import { demand, specificationRule } from '../engine/demand.ts';

export const fractionAboveOne = specificationRule({
  id: 'fraction-above-one',
  summary: 'A fraction is greater than one.',
  source: 'Gateway API v1.7.0, Fraction ("numerator must be less than or equal to denominator")',
});

export const fractionUpToOne = demand(fractionAboveOne, function judge(fraction: FractionView, report) {
  const { numerator, denominator } = shareOf(fraction);
  if (numerator <= denominator) return;
  report({
    below: ['numerator'],
    value: String(numerator),
    message: `Invalid numerator ${numerator}: must be at most the denominator ${denominator}. Use a smaller numerator, or a greater denominator.`,
  });
});
