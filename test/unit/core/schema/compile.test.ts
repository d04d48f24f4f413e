import { describe, expect, test } from '@jest/globals';
import { available, experimental, versions, type Bundle } from '../../../../src/core/schema/availability.ts';
import { compileToJsonSchema, versionsIn } from '../../../../src/core/schema/compile.ts';
import { integer, intOrString, list, map, object, string } from '../../../../src/core/schema/node.ts';
import type { KindTable } from '../../../../src/core/schema/tables/table.ts';

const bounds = versions(available({}, 8), available({ since: { standard: '1.2', experimental: '1.1' } }, 16));
const table: KindTable = {
  group: 'example.com',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
  versions: [
    { name: 'v1', served: true, storage: true },
    available(
      { until: { standard: '1.1' } },
      { name: 'v1alpha1', served: false, storage: false, body: object({ old: string() }) },
    ),
  ],
  body: object(
    {
      spec: object(
        {
          mode: string({ default: 'A', enum: ['A', experimental('1.3', 'B')] }),
          items: list(object({ name: string({ minLength: 0, pattern: experimental('1.3', '^a$') }) }), {
            maxItems: bounds,
            listType: 'map',
            keys: ['name'],
          }),
          extra: experimental('1.3', integer({ minimum: 0, format: 'int32' })),
          labels: map(string(), { maxProperties: 3 }),
          port: intOrString(),
        },
        { required: ['mode', experimental('1.3', 'extra')] },
      ),
    },
    { required: ['spec'] },
  ),
};

function compiled(version: string, minor: Bundle['minor'], channel: Bundle['channel']) {
  return compileToJsonSchema(table, version, { minor, channel });
}

const frame = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } };
const shared = {
  labels: { type: 'object', maxProperties: 3, additionalProperties: { type: 'string' } },
  port: { 'x-kubernetes-int-or-string': true },
};

describe('compileToJsonSchema', () => {
  test('takes what exists in the bundle', () => {
    expect(compiled('v1', '1.7', 'experimental')).toEqual({
      type: 'object',
      required: ['spec'],
      properties: {
        ...frame,
        spec: {
          type: 'object',
          required: ['mode', 'extra'],
          properties: {
            ...shared,
            mode: { type: 'string', default: 'A', enum: ['A', 'B'] },
            items: {
              type: 'array',
              maxItems: 16,
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['name'],
              items: { type: 'object', properties: { name: { type: 'string', minLength: 0, pattern: '^a$' } } },
            },
            extra: { type: 'integer', minimum: 0, format: 'int32' },
          },
        },
      },
    });
  });

  test('leaves out what does not: a field, an enum value, a bound, a requirement', () => {
    expect(compiled('v1', '1.1', 'standard')).toEqual({
      type: 'object',
      required: ['spec'],
      properties: {
        ...frame,
        spec: {
          type: 'object',
          required: ['mode'],
          properties: {
            ...shared,
            mode: { type: 'string', default: 'A', enum: ['A'] },
            items: {
              type: 'array',
              maxItems: 8,
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['name'],
              items: { type: 'object', properties: { name: { type: 'string', minLength: 0 } } },
            },
          },
        },
      },
    });
  });

  test('a version may have a table of its own, and may end', () => {
    expect(compiled('v1alpha1', '1.0', 'standard')).toEqual({
      type: 'object',
      properties: { ...frame, old: { type: 'string' } },
    });
    expect(compiled('v1alpha1', '1.1', 'standard')).toBeUndefined();
    expect(versionsIn(table, { minor: '1.7', channel: 'standard' }).map(({ name }) => name)).toEqual(['v1']);
  });
});
