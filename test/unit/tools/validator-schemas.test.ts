import { describe, expect, test } from '@jest/globals';
import { channels, minors } from '../../../src/core/schema/availability.ts';
import { compileToJsonSchema, versionsIn } from '../../../src/core/schema/compile.ts';
import { schemaTables } from '../../../src/core/schema/kinds.ts';
import { judgedGroups, type KindTable } from '../../../src/core/schema/tables/table.ts';
import { validatorKey } from '../../../src/core/schema/validator-key.ts';
import { validatorSchemas } from '../../../tools/validator-schemas.ts';

const { definitions, roots } = validatorSchemas();

/** With every reference replaced by what it names. */
function whole(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(whole);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema) return whole(definitions.get(String(schema.$ref)));
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, whole(value)]));
}

/** Without what a validator does not look at; there is no field by any of these names. */
function judged(schema: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      (key === 'default' && !isSchema(value)) || key.startsWith('x-kubernetes-') ? undefined : value,
    ),
  );
}

/** TLS settings of a Gateway have a field that is called default. */
function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'properties' in value;
}

describe('validatorSchemas', () => {
  const expected = Object.values<KindTable>(schemaTables)
    .filter(({ group }) => judgedGroups.includes(group))
    .flatMap((table) =>
      minors.flatMap((minor) =>
        channels.flatMap((channel) =>
          versionsIn(table, { minor, channel }).map(({ name }) => ({
            key: validatorKey(table.kind, name, { minor, channel }),
            schema: compileToJsonSchema(table, name, { minor, channel }),
          })),
        ),
      ),
    );

  test('lose nothing by being cut', () => {
    expect([...roots.keys()].toSorted()).toEqual(expected.map(({ key }) => key).toSorted());
    for (const { key, schema } of expected)
      expect([key, whole(definitions.get(roots.get(key) ?? ''))]).toEqual([key, judged(schema)]);
  });

  test('share what is the same', () => {
    expect(roots.get('HTTPRoute/v1/1.5/standard')).toBe(roots.get('HTTPRoute/v1beta1/1.5/standard'));
    expect(roots.get('HTTPRoute/v1/1.5/standard')).toBe(roots.get('HTTPRoute/v1/1.6/standard'));
    expect(roots.get('HTTPRoute/v1/1.5/standard')).not.toBe(roots.get('HTTPRoute/v1/1.7/standard'));
    expect(new Set(roots.values()).size).toBeLessThan(roots.size / 2);
  });
});
