import { expect, test } from '@jest/globals';
import { runToEnd } from '../../../src/core/text/steps.ts';
import { differenceOf } from '../../../src/files/difference.ts';
import { parseDocuments } from '../../../src/files/parse.ts';

function read(text: string, file = 'f.yaml') {
  return parseDocuments(text, file).documents;
}

function difference(before: string, after: string) {
  const { added, changed, removed } = runToEnd(differenceOf(read(before), read(after)));
  const name = ({ value }: { value: unknown }) => JSON.stringify(value);
  return {
    added: added.map(name),
    changed: changed.map(({ before, after }) => [name(before), name(after)]),
    removed: removed.map(name),
  };
}

const one = '{kind: A, metadata: {name: one}, n: 1}';
const two = '{kind: A, metadata: {name: two}, n: 1}';
const json = (text: string) => JSON.stringify(read(text)[0]?.value);

test('documents go by the object they describe, not by their place', () => {
  const changed = one.replace('n: 1', 'n: 2');
  expect(difference(`${one}\n---\n${two}`, `# moved\n---\n${two}\n---\n${changed}`)).toEqual({
    added: [],
    changed: [[json(one), json(changed)]],
    removed: [],
  });
});

test('another name, namespace, kind or apiVersion is another object', () => {
  for (const other of [
    two,
    one.replace('A', 'B'),
    `{apiVersion: v1, ${one.slice(1)}`,
    one.replace('name: one', 'name: one, namespace: n'),
  ]) {
    expect(difference(one, other)).toEqual({ added: [json(other)], changed: [], removed: [json(one)] });
  }
  expect(runToEnd(differenceOf(read(one, 'a'), read(one, 'b')))).toMatchObject({
    added: [{ file: 'b' }],
    removed: [{ file: 'a' }],
  });
});

test('of several documents for one object the first goes with the first', () => {
  expect(difference(`${one}\n---\n${one}`, one)).toEqual({ added: [], changed: [], removed: [json(one)] });
});

test('objects without a name, or with members of odd types, are compared too', () => {
  expect(difference('{a: 1}', '{a: 2}')).toEqual({ added: [], changed: [['{"a":1}', '{"a":2}']], removed: [] });
  expect(difference('{metadata: 5, kind: [1]}', '{metadata: 5, kind: [1]}')).toEqual({
    added: [],
    changed: [],
    removed: [],
  });
});
