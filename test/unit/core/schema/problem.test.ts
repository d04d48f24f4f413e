import { expect, test } from '@jest/globals';
import { firstOfEachPlace, maximumProblems, type StructureProblem } from '../../../../src/core/schema/problem.ts';

test('no more problems are described than are reported', () => {
  let described = 0;
  function* endless(): Iterable<StructureProblem> {
    for (;;) {
      described += 1;
      yield { path: ['spec', Math.floor(described / 2)], message: `number ${described}`, keyword: 'type' };
    }
  }
  const first = firstOfEachPlace(endless());
  expect(first).toHaveLength(maximumProblems);
  expect(first[1]).toMatchObject({ path: ['spec', 1], message: 'number 2' });
  expect(described).toBe(2 * maximumProblems - 2);
});
