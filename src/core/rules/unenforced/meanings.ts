import {
  allVariants,
  schemaTables,
  type KindTable,
  type Node,
  type SchemaKind,
  type Semantic,
  type SemanticValue,
} from '../../schema/index.ts';
import type { Demand } from '../engine/demand.ts';

/** Sites without paths in their type. A record of no paths, so that `merge` keeps the paths of the other tables. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type
type SitesByMeaning = Readonly<Record<never, readonly Demand[]>>;

/**
 * Creates sites with a demand at all locations in the spec of a kind that have one of these meanings, in all versions. The meaning
 * declares the type of the value, so the compiler does not need the paths.
 */
export function wherever<S extends Semantic>(
  kind: SchemaKind,
  meanings: readonly S[],
  demand: Demand<SemanticValue<S>>,
): SitesByMeaning {
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
