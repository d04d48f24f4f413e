import type { ResourceFrame } from '../resources/resource.ts';

/**
 * An index entry that sorts by the ladder of the API design guide for conflicts: the oldest object first, then by the
 * string `namespace/name`.
 */
export function ageEntry({ meta, ref }: ResourceFrame): string {
  return JSON.stringify([meta.created, `${ref.namespace}/${ref.name}`]);
}

/** The object that such an entry stands for. */
export function ofAgeEntry(entry: string): { readonly namespace: string; readonly name: string } {
  const [, qualified = ''] = JSON.parse(entry) as readonly string[];
  const slash = qualified.indexOf('/');
  return { namespace: qualified.slice(0, slash), name: qualified.slice(slash + 1) };
}
