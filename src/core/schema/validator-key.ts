import type { Bundle } from './availability.ts';

/** Names the validator of one version of a kind in one bundle: `HTTPRoute/v1/1.7/standard`. */
export function validatorKey(kind: string, version: string, bundle: Bundle): string {
  return `${kind}/${version}/${bundle.minor}/${bundle.channel}`;
}
