import { expect, test } from '@jest/globals';
import { LinkedList, LinkedNode } from '../../../../src/proxy/limits/linked-list.ts';

function valuesOf(list: LinkedList<string>): { readonly forward: string[]; readonly backward: string[] } {
  const [forward, backward]: [string[], string[]] = [[], []];
  for (let place = list.first; place !== undefined; place = place.after) forward.push(place.value);
  for (let place = list.last; place !== undefined; place = place.before) backward.unshift(place.value);
  return { forward, backward };
}

test('values stay in the order in which they were appended last', () => {
  const list = new LinkedList<string>();
  const [a, b, c] = [new LinkedNode('a'), new LinkedNode('b'), new LinkedNode('c')];
  for (const place of [a, b, c, a]) list.append(place);
  expect(valuesOf(list)).toEqual({ forward: ['b', 'c', 'a'], backward: ['b', 'c', 'a'] });
  for (const [place, left] of [
    [c, ['b', 'a']],
    [c, ['b', 'a']],
    [b, ['a']],
    [a, []],
  ] as const) {
    list.remove(place);
    expect(valuesOf(list)).toEqual({ forward: left, backward: left });
  }
  list.append(b);
  expect(valuesOf(list).forward).toEqual(['b']);
});
