import { identifyObject, type IdentifiedObject } from '../resources/parse.ts';
import { applyDefaults, isKindName, type Bundle, type KindName } from '../schema/index.ts';
import { candidateOf, type Candidate } from './judge.ts';

/** What a document of a file turned out to be. */
export type ReadDocument =
  /** With the object as the API server would judge and store it. */
  | { readonly type: 'candidate'; readonly candidate: Candidate }
  | Exclude<IdentifiedObject, { readonly type: 'resource' }>;

/**
 * Reads an object as people write it, and fills in the defaults of the bundle. Never throws.
 *
 * @param order sorts objects without creationTimestamp by appearance; compared as a string
 */
export function readDocument(json: unknown, bundle: Bundle, order = ''): ReadDocument {
  // Defaults change nothing of what makes an object one of a kind, so it can be read once they are there.
  const kind = servedKindOf(json);
  const stored = kind === undefined ? json : applyDefaults(kind, json, bundle);
  const identified = identifyObject(stored, order);
  return identified.type === 'resource' ? { type: 'candidate', candidate: candidateOf(identified, stored, bundle) } : identified;
}

function servedKindOf(json: unknown): KindName | undefined {
  const kind: unknown = typeof json === 'object' && json !== null && Object.hasOwn(json, 'kind') ? (json as { readonly kind: unknown }).kind : undefined;
  return typeof kind === 'string' && isKindName(kind) ? kind : undefined;
}
