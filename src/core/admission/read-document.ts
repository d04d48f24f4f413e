import { identifyObject, type IdentifiedObject } from '../resources/parse.ts';
import type { Bundle } from '../schema/index.ts';
import { candidateOf, type Candidate } from './judge.ts';

/** The result of reading a document of a file. */
export type ReadDocument =
  /** The object as the API server would judge and store it. */
  | { readonly type: 'candidate'; readonly candidate: Candidate }
  | Exclude<IdentifiedObject, { readonly type: 'resource' }>;

/**
 * Reads an object as users write it, with the defaults of the bundle. Never throws.
 *
 * @param order orders objects without creationTimestamp by appearance in the files; compared as a string
 */
export function readDocument(json: unknown, bundle: Bundle, order = ''): ReadDocument {
  const identified = identifyObject(json, order);
  return identified.type === 'resource'
    ? { type: 'candidate', candidate: candidateOf(identified, json, bundle) }
    : identified;
}
