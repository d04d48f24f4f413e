import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { examine, readView, tables, unreadableInteger, unreadableString } from '../../../../src/core/schema/index.ts';
import { boolean, integer, intOrString, list, map, object, string } from '../../../../src/core/schema/node.ts';

const table = object({
  name: string({ maxLength: 3 }),
  port: integer({ minimum: 1 }),
  on: boolean(),
  target: intOrString(),
  tags: list(string()),
  codes: list(integer()),
  rules: list(object({ name: string() })),
  labels: map(string()),
});

describe('readView', () => {
  test('keeps what has the right type, whatever bounds say, and drops unknown fields in silence', () => {
    const json = {
      name: 'far too long',
      port: -5,
      on: true,
      target: 'http',
      tags: ['a'],
      labels: { x: 'y' },
      unknown: 1,
    };
    expect(readView(table, json)).toEqual({
      view: { name: 'far too long', port: -5, on: true, target: 'http', tags: ['a'], labels: { x: 'y' } },
      unreadable: [],
    });
  });

  test('leaves out what has another type, and says where', () => {
    const { view, unreadable } = readView(table, {
      name: 5,
      port: '80',
      on: 'yes',
      target: 1.5,
      tags: 'a',
      rules: {},
      labels: [],
    });
    expect(view).toEqual({});
    expect(unreadable).toEqual([
      { path: ['name'], expected: 'a string', found: 'an integer' },
      { path: ['port'], expected: 'an integer', found: 'a string' },
      { path: ['on'], expected: 'true or false', found: 'a string' },
      { path: ['target'], expected: 'an integer or a string', found: 'a number' },
      { path: ['tags'], expected: 'a list', found: 'a string' },
      { path: ['rules'], expected: 'a list', found: 'an object' },
      { path: ['labels'], expected: 'an object', found: 'a list' },
    ]);
  });

  test('list items and map values keep their places', () => {
    const { view, unreadable } = readView(table, {
      tags: ['a', 5, 'c'],
      codes: [1, 'x', 3],
      rules: [7, { name: 'b' }, { name: 8 }],
      labels: { app: 1, tier: 'web' },
    });
    expect(view).toEqual({
      tags: ['a', unreadableString, 'c'],
      codes: [1, unreadableInteger, 3],
      rules: [{}, { name: 'b' }, {}],
      labels: { app: unreadableString, tier: 'web' },
    });
    expect(unreadable.map(({ path }) => path)).toEqual([
      ['tags', 1],
      ['codes', 1],
      ['rules', 0],
      ['rules', 2, 'name'],
      ['labels', 'app'],
    ]);
  });

  test('null is absent, but not as an item of a list', () => {
    expect(readView(table, { name: null, labels: { a: null, b: 'c' } })).toEqual({
      view: { labels: { b: 'c' } },
      unreadable: [],
    });
    expect(readView(table, { tags: [null] })).toEqual({
      view: { tags: [unreadableString] },
      unreadable: [{ path: ['tags', 0], expected: 'a string', found: 'null' }],
    });
  });

  test('keys of prototypes are plain data', () => {
    const json: unknown = JSON.parse(
      '{"labels": {"__proto__": "a", "constructor": "b", "toString": "c"}, "__proto__": {"name": "evil"}}',
    );
    const { view, unreadable } = readView(table, json);
    expect(Object.entries(view.labels ?? {})).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ]);
    expect(Object.getPrototypeOf(view.labels)).toBe(Object.prototype);
    expect(view.name).toBeUndefined();
    expect(unreadable).toEqual([]);
  });

  test('fields are read from the object itself, never from its prototype', () => {
    const json: unknown = Object.create({ name: 'inherited' });
    expect(readView(table, json)).toEqual({ view: {}, unreadable: [] });
  });

  test('something that is no object at all reads as an empty view', () => {
    expect(readView(table, [])).toEqual({
      view: {},
      unreadable: [{ path: [], expected: 'an object', found: 'a list' }],
    });
  });

  test('an object of nothing but unreadable fields is unreadable as a whole', () => {
    const { unreadable } = readView(table, { tags: Array.from({ length: 10_000 }, () => 5) });
    expect(unreadable).toHaveLength(256);
    expect(unreadable.at(-1)?.path).toEqual([]);
  });

  test('a list that is longer than any bundle allows is not read', () => {
    const { view, unreadable } = readView(tables.HTTPRoute.body, {
      spec: { rules: Array.from({ length: 100_000 }, () => ({})) },
    });
    expect(view).toEqual({ spec: {} });
    expect(unreadable).toEqual([
      { path: ['spec', 'rules'], expected: 'a list of at most 16 items', found: 'a list of 100000' },
    ]);
  });

  test('what is validated has the start of strings that no bundle accepts', () => {
    const { stored, problems } = examine(
      {
        kind: 'HTTPRoute',
        apiVersion: 'gateway.networking.k8s.io/v1',
        json: { spec: { rules: [{ matches: [{ path: { value: `/${'a'.repeat(100_000)}` } }] }] } },
      },
      { minor: '1.7', channel: 'standard' },
    );
    expect(problems.map(({ keyword }) => keyword)).toEqual(['maxLength']);
    expect(stored).toMatchObject({
      spec: { rules: [{ matches: [{ path: { value: `/${'a'.repeat(2 * 1_024)}` } }] }] },
    });
  });

  test('leaves out strings that no bundle accepts, however they are encoded', () => {
    const limited = object({
      path: string({ maxLength: 1_024 }),
      names: list(string({ maxLength: 253 })),
      data: string(),
    });
    const [fitting, long] = ['\u{1f600}'.repeat(1_024), 'a'.repeat(2_049)];
    expect(readView(limited, { path: fitting, names: ['a'], data: long.repeat(1_000) }).unreadable).toEqual([]);
    expect(readView(limited, { path: long, names: ['a', long] })).toEqual({
      view: { names: ['a', unreadableString] },
      unreadable: [
        { path: ['path'], expected: 'a string of at most 1024 characters', found: 'a string of 2049' },
        { path: ['names', 1], expected: 'a string of at most 253 characters', found: 'a string of 2049' },
      ],
    });
  });

  test('neither is a map of more entries than are judged', () => {
    const matchLabels = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`k${index}`, '']));
    const { unreadable } = readView(tables.Gateway.body, {
      spec: { allowedListeners: { namespaces: { selector: { matchLabels } } } },
    });
    expect(unreadable).toEqual([
      {
        path: ['spec', 'allowedListeners', 'namespaces', 'selector', 'matchLabels'],
        expected: 'an object with at most 10000 entries',
        found: 'an object with 10001',
      },
    ]);
  });

  test('a limit that only some bundles have does not hold for reading', () => {
    const { unreadable } = readView(tables.HTTPRoute.body, {
      spec: { rules: [{ matches: Array.from({ length: 64 }, () => ({})) }] },
    });
    expect(unreadable).toEqual([]);
  });

  test('depth costs nothing', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    expect(readView(table, { tags: deep, rules: deep, unknown: deep }).unreadable.map(({ path }) => path)).toEqual([
      ['tags', 0],
      ['rules', 0],
    ]);
  });

  test('items of a list may have the type of any bundle', () => {
    const status = { supportedFeatures: ['HTTPRoute', { name: 'Gateway' }, 5] };
    expect(readView(tables.GatewayClass.body, { status })).toEqual({
      view: { status: { supportedFeatures: ['HTTPRoute', { name: 'Gateway' }, {}] } },
      unreadable: [
        { path: ['status', 'supportedFeatures', 2], expected: 'a string or an object', found: 'an integer' },
      ],
    });
  });

  test('never throws and never changes its input, whatever JSON stands in whatever field', () => {
    const kinds = Object.values(tables);
    const anyJson = fc.jsonValue({ maxDepth: 6 });
    const fields = fc.constantFrom(
      'spec',
      'status',
      'rules',
      'matches',
      'listeners',
      'parentRefs',
      '__proto__',
      'constructor',
      'data',
      'ports',
    );
    const nested = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        anyJson,
        fc.dictionary(fields, tie('value')),
        fc.array(tie('value'), { maxLength: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(fc.constantFrom(...kinds), nested, (kind, json) => {
        const before = JSON.stringify(json);
        const { view, unreadable } = readView(kind.body, json);
        expect(typeof view).toBe('object');
        expect(Array.isArray(unreadable)).toBe(true);
        expect(JSON.stringify(json)).toBe(before);
      }),
    );
  });

  test('reading what was read finds the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const { view, unreadable } = readView(table, json);
        fc.pre(unreadable.length === 0);
        expect(readView(table, view)).toEqual({ view, unreadable: [] });
      }),
    );
  });
});
