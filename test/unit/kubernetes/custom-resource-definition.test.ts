import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { hashSchema, preferredVersion, readInstalledKind } from '../../../src/kubernetes/custom-resource-definition.ts';

describe('the hash of a schema', () => {
  const schema = {
    type: 'object',
    description: 'a',
    properties: { description: { type: 'string', description: 'b' }, port: { type: 'integer', minimum: 1 } },
  };

  test('knows neither order nor descriptions', () => {
    const same = {
      properties: { port: { minimum: 1, type: 'integer' }, description: { type: 'string' } },
      type: 'object',
    };
    expect(hashSchema(same)).toBe(hashSchema(schema));
  });

  test('knows everything else, a field called description too', () => {
    const { description: _description, ...properties } = schema.properties;
    expect(hashSchema({ ...schema, properties })).not.toBe(hashSchema(schema));
    expect(
      hashSchema({ ...schema, properties: { ...schema.properties, port: { type: 'integer', minimum: 2 } } }),
    ).not.toBe(hashSchema(schema));
    expect(hashSchema({ enum: ['a', 'b'] })).not.toBe(hashSchema({ enum: ['b', 'a'] }));
  });
});

describe('the version to follow', () => {
  const installed = (...names: readonly string[]) =>
    readInstalledKind({
      metadata: { name: 'x' },
      spec: { versions: names.map((name) => ({ name: name.replace('!', ''), served: !name.startsWith('!') })) },
    });

  test.each([
    [['v1beta1', 'v1'], 'v1'],
    [['v2', 'v1'], 'v1'],
    [['v1alpha2', 'v1alpha3'], 'v1alpha3'],
    [['v1alpha3', 'v1beta1'], 'v1beta1'],
    [['v1beta1', 'v3', 'v2'], 'v3'],
    [['!v1', 'v1beta1'], 'v1beta1'],
    [['foo', 'v1alpha1'], 'v1alpha1'],
    [['!v1'], undefined],
    [[], undefined],
  ])('of %j is %s', (names, version) => {
    expect(preferredVersion(installed(...names))).toBe(version);
  });
});

test('any definition at all can be read', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (spec, status) => {
      expect(readInstalledKind({ metadata: { name: 'x' }, spec, status })).toMatchObject({
        name: 'x',
        established: expect.any(Boolean),
      });
    }),
  );
});

test.each([
  ['True', true],
  ['False', false],
])(
  'a definition whose condition Established is %s is so, also on its way out: its objects may be kept by finalizers',
  (status, established) => {
    const state = {
      conditions: [
        { type: 'Established', status },
        { type: 'Terminating', status: 'True' },
      ],
    };
    expect(
      readInstalledKind({ metadata: { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z' }, status: state })
        .established,
    ).toBe(established);
  },
);
