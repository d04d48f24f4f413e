import { describe, expect, test } from '@jest/globals';
import type { Bundle } from '../../src/core/schema/availability.ts';
import { randomObject } from './objects.ts';
import { createRandom } from './random.ts';
import { predict, subjectsOf } from './subject.ts';

const bundles: readonly Bundle[] = [
  { minor: '1.0', channel: 'standard' },
  { minor: '1.7', channel: 'experimental' },
];

describe('randomObject', () => {
  test('a seed makes the same object again', () => {
    const [subject] = subjectsOf({ minor: '1.7', channel: 'experimental' });
    if (subject === undefined) throw new Error('the bundle serves nothing');
    expect(randomObject(subject, createRandom(7))).toEqual(randomObject(subject, createRandom(7)));
  });

  test.each(bundles)('v$minor $channel: of every kind some objects are fine, and some are not', (bundle) => {
    const verdicts = subjectsOf(bundle).map((subject) => {
      const refused = Array.from(
        { length: 20 },
        (_, seed) => predict(subject, randomObject(subject, createRandom(seed))).length > 0,
      );
      return { subject: `${subject.kind} ${subject.version}`, verdicts: new Set(refused).size };
    });
    expect(verdicts.filter((verdict) => verdict.verdicts < 2)).toEqual([]);
  });
});
