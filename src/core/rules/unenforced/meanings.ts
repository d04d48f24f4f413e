import {
  allVariants,
  schemaTables,
  type KindTable,
  type Node,
  type SchemaKind,
  type Semantic,
} from '../../schema/index.ts';
import type { Demand } from '../engine/demand.ts';
import type { Sites } from '../official/sites.ts';

/** Creates sites with a demand at all locations in the spec of a kind that have one of these meanings, in all versions. */
export function wherever(kind: SchemaKind, meanings: readonly Semantic[], demand: Demand): Sites {
  const table: KindTable = schemaTables[kind];
  const bodies = [
    table.body,
    ...table.versions.flatMap((version) => allVariants(version)).flatMap(({ body }) => body ?? []),
  ];
  const places = new Set(
    bodies
      .flatMap(({ fields }) => (fields['spec'] === undefined ? [] : allVariants(fields['spec'])))
      .flatMap((spec) => [...placesIn(spec, 'spec', meanings)]),
  );
  return Object.fromEntries([...places].map((place) => [place, [demand]]));
}

function* placesIn(node: Node, path: string, meanings: readonly Semantic[]): Iterable<string> {
  if (node.semantics?.some((meaning) => meanings.includes(meaning)) === true) yield path;
  if (node.type === 'list') yield* placesIn(node.items, `${path}[]`, meanings);
  if (node.type !== 'object') return;
  for (const [name, field] of Object.entries(node.fields)) {
    for (const variant of allVariants(field)) yield* placesIn(variant, `${path}.${name}`, meanings);
  }
}
