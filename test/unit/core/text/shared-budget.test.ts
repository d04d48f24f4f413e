import { expect, test } from '@jest/globals';
import { SharedBudget } from '../../../../src/core/text/shared-budget.ts';

function sharers(budget: SharedBudget) {
  const ended: string[] = [];
  const holding = new Map<string, number>();
  const all = new Map<string, { held(): number; end(): void }>();
  const hold = (name: string, bytes: number, owner?: string): void => {
    holding.set(name, bytes);
    const sharer = all.get(name) ?? {
      ...(owner !== undefined && { owner }),
      held: () => holding.get(name) ?? 0,
      end: () => void ended.push(name),
    };
    all.set(name, sharer);
    budget.count(sharer);
  };
  return { hold, ended, holding };
}

test('beyond the budget, those that hold most are ended, and one alone never', () => {
  const { hold, ended } = sharers(new SharedBudget(100));
  hold('small', 10);
  hold('large', 60);
  hold('small', 40);
  expect(ended).toEqual([]);
  hold('small', 41);
  expect(ended).toEqual(['large']);
  hold('small', 500);
  expect(ended).toEqual(['large']);
  hold('other', 1);
  expect(ended).toEqual(['large', 'small']);
});

test('what has become less since it was counted does not end anybody', () => {
  const { hold, ended, holding } = sharers(new SharedBudget(100));
  hold('a', 90);
  holding.set('a', 0);
  hold('b', 90);
  expect(ended).toEqual([]);
});

test('many small ones of one owner are ended before a larger one of another', () => {
  const { hold, ended } = sharers(new SharedBudget(100));
  hold('a', 10, 'greedy');
  hold('b', 30, 'greedy');
  hold('c', 20, 'greedy');
  hold('large', 40, 'modest');
  expect(ended).toEqual([]);
  hold('d', 15, 'greedy');
  expect(ended).toEqual(['b']);
});
