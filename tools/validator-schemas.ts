import { createHash } from 'node:crypto';
import { channels, type Bundle } from '../src/core/schema/availability.ts';
import { supportedMinors } from '../src/core/schema/bundle.ts';
import { compileToJsonSchema, versionsIn } from '../src/core/schema/compile.ts';
import { schemaTables } from '../src/core/schema/kinds.ts';
import type { JsonObject, JsonValue } from '../src/core/schema/node.ts';
import { judgedGroups, type KindTable } from '../src/core/schema/tables/table.ts';
import { validatorKey } from '../src/core/schema/validator-key.ts';

/** Schemas split into definitions that refer to each other by name. The same name means the same content. */
export interface ValidatorSchemas {
  readonly definitions: ReadonlyMap<string, JsonObject>;
  /** Key of a validator → name of its root definition. */
  readonly roots: ReadonlyMap<string, string>;
}

/**
 * The schemas of all kinds and versions in all supported bundles, split into definitions. Bundles and kinds share many of them, so all
 * together are hardly larger than those of one bundle.
 */
export function validatorSchemas(): ValidatorSchemas {
  const definitions = new Map<string, JsonObject>();
  const roots = new Map<string, string>();
  const bundles = supportedMinors.flatMap((minor) => channels.map((channel): Bundle => ({ minor, channel })));
  const tables = Object.values<KindTable>(schemaTables).filter((table) => judgedGroups.includes(table.group));
  for (const bundle of bundles) {
    for (const table of tables) {
      for (const { name } of versionsIn(table, bundle)) {
        const schema = compileToJsonSchema(table, name, bundle);
        if (schema !== undefined)
          roots.set(validatorKey(table.kind, name, bundle), define(cut(schema, definitions), definitions));
      }
    }
  }
  return { definitions, roots };
}

/** Removes keywords without an effect on the result from a schema, and turns all larger parts into definitions. */
function cut(schema: JsonObject, definitions: Map<string, JsonObject>): JsonObject {
  const kept = Object.entries(schema).filter(
    ([keyword]) => keyword !== 'default' && !keyword.startsWith('x-kubernetes-'),
  );
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, cutBelow(keyword, value, definitions)]));
}

function cutBelow(keyword: string, value: JsonValue, definitions: Map<string, JsonObject>): JsonValue {
  if (keyword === 'items' || keyword === 'additionalProperties') return refer(value as JsonObject, definitions);
  if (keyword !== 'properties') return value;
  const fields = Object.entries(value as Readonly<Record<string, JsonObject>>);
  return Object.fromEntries(fields.map(([name, field]) => [name, refer(field, definitions)]));
}

function refer(schema: JsonObject, definitions: Map<string, JsonObject>): JsonObject {
  const whole = cut(schema, definitions);
  const worthwhile = Object.keys(whole).length > 2 || 'properties' in whole;
  return worthwhile ? { $ref: define(whole, definitions) } : whole;
}

function define(schema: JsonObject, definitions: Map<string, JsonObject>): string {
  const name = `d${createHash('sha256').update(JSON.stringify(schema)).digest('hex').slice(0, 12)}`;
  definitions.set(name, schema);
  return name;
}
