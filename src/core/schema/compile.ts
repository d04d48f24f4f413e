import { resolve, resolveAll, type Bundle, type MaybeVersioned } from './availability.ts';
import type {
  BooleanNode,
  IntegerNode,
  JsonObject,
  JsonValue,
  ListNode,
  MapNode,
  Node,
  ObjectNode,
  StringNode,
} from './node.ts';
import { perBundle } from './per-bundle.ts';
import type { KindTable, KindVersion } from './tables/table.ts';

/**
 * Compiles the schema of one version of a kind in one bundle, in CRD notation (OpenAPI v3 with `x-kubernetes-*`). It equals
 * the official openAPIV3Schema node by node, without descriptions and CEL rules.
 *
 * @param version its short name, `v1`
 * @returns `undefined` if the bundle does not have the version
 */
export function compileToJsonSchema(table: KindTable, version: string, bundle: Bundle): JsonObject | undefined {
  const found = versionsIn(table, bundle).find((candidate) => candidate.name === version);
  if (found === undefined) return undefined;
  const body = compileObject(found.body ?? table.body, bundle);
  const frame = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } };
  return { ...body, properties: { ...frame, ...(body['properties'] as JsonObject) } };
}

/** The versions of a kind in a bundle. */
export const versionsIn = perBundle((table: KindTable, bundle): readonly KindVersion[] =>
  resolveAll(table.versions, bundle),
);

function compileNode(node: Node, bundle: Bundle): JsonObject {
  if (node.type === 'object') return compileObject(node, bundle);
  if (node.type === 'list') return compileList(node, bundle);
  if (node.type === 'map') return compileMap(node, bundle);
  return node.type === 'intOrString'
    ? { 'x-kubernetes-int-or-string': true }
    : { type: node.type, ...scalarBounds(node, bundle) };
}

const scalarKeywords = ['default', 'minLength', 'maxLength', 'pattern', 'format', 'minimum', 'maximum'] as const;

function scalarBounds(node: StringNode | IntegerNode | BooleanNode, bundle: Bundle): JsonObject {
  const bounds = keywords(node, scalarKeywords, bundle);
  const values = resolveAll<JsonValue>(node.enum ?? [], bundle);
  return values.length === 0 ? bounds : { ...bounds, enum: values };
}

function compileObject(node: ObjectNode, bundle: Bundle): JsonObject {
  const properties = Object.entries(node.fields).flatMap(([name, field]) => {
    const child = resolve(field, bundle);
    return child === undefined ? [] : [[name, compileNode(child, bundle)] as const];
  });
  const required = resolveAll(node.required ?? [], bundle);
  return {
    type: 'object',
    ...keywords(node, ['default', 'minProperties', 'oneOf'], bundle),
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
    ...(node.mapType === undefined ? {} : { 'x-kubernetes-map-type': node.mapType }),
  };
}

function compileList(node: ListNode, bundle: Bundle): JsonObject {
  const listType = node.listType === undefined ? undefined : resolve(node.listType, bundle);
  return {
    type: 'array',
    ...keywords(node, ['default', 'minItems', 'maxItems'], bundle),
    items: compileNode(node.items, bundle),
    ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
    ...(listType === 'map' ? { 'x-kubernetes-list-map-keys': node.keys ?? [] } : {}),
  };
}

function compileMap(node: MapNode, bundle: Bundle): JsonObject {
  return {
    type: 'object',
    ...keywords(node, ['minProperties', 'maxProperties'], bundle),
    additionalProperties: compileNode(node.values, bundle),
  };
}

/** The keywords of the node that apply in a bundle, under the same names. */
function keywords(node: Node, names: readonly string[], bundle: Bundle): JsonObject {
  const options = node as unknown as Readonly<Record<string, MaybeVersioned<JsonValue> | undefined>>;
  return Object.fromEntries(
    names.flatMap((name) => {
      const option = options[name];
      const value = option === undefined ? undefined : resolve(option, bundle);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
