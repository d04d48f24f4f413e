import { memberOf, valueAt } from '../text/record.ts';

/**
 * Returns the features that the status of a GatewayClass lists (status.supportedFeatures, GEP-2162), or `undefined` if it lists
 * none. Before v1.2, each feature was a plain name. Never throws.
 *
 * @param json the object, of any shape
 */
export function featuresOf(json: unknown): readonly string[] | undefined {
  const listed = valueAt(json, ['status', 'supportedFeatures']);
  if (!Array.isArray(listed)) return undefined;
  const names = listed
    .slice(0, maxFeatures)
    .map((entry: unknown) => (typeof entry === 'string' ? entry : memberOf(entry, 'name')))
    .filter((name) => typeof name === 'string');
  return names.length === 0 ? undefined : names;
}

/** The CRD allows 64 features. About as many exist. */
const maxFeatures = 256;
