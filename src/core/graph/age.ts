import { ofQualifiedName, qualifiedName } from '../resources/reference.ts';
import type { ResourceFrame } from '../resources/resource.ts';

/**
 * Returns an index entry that sorts by the precedence of the API design guide for conflicts: the oldest object first, then by
 * the string `namespace/name`.
 */
export function ageEntry({ meta, ref }: ResourceFrame): string {
  return JSON.stringify([meta.created, qualifiedName(ref)]);
}

/** Returns the object of such an entry. */
export function ofAgeEntry(entry: string): { readonly namespace: string; readonly name: string } {
  const [, qualified = ''] = JSON.parse(entry) as readonly string[];
  return ofQualifiedName(qualified);
}
