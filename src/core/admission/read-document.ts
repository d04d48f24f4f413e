import { parseObject, type ParsedObject } from '../resources/parse.ts';
import { applyDefaults, type Bundle } from '../schema/index.ts';
import type { Candidate } from './judge.ts';

/** What a document of a file turned out to be. */
export type ReadDocument =
  /** `stored`: the object as the API server would store it. */
  | { readonly type: 'candidate'; readonly candidate: Candidate; readonly stored: unknown }
  | Exclude<ParsedObject, { readonly type: 'resource' }>;

/**
 * Reads an object as people write it: the schema judges it as written, evaluation sees it with the defaults of the bundle.
 * Never throws.
 *
 * @param order sorts objects without creationTimestamp by appearance; compared as a string
 */
export function readDocument(json: unknown, bundle: Bundle, order = ''): ReadDocument {
  const written = parseObject(json, order);
  if (written.type !== 'resource') return written;
  const stored = applyDefaults(written.resource.kind, json, bundle);
  const parsed = parseObject(stored, order);
  const { resource, apiVersion } = parsed.type === 'resource' ? parsed : written;
  return { type: 'candidate', candidate: { json, apiVersion, resource }, stored };
}
