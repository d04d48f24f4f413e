import { someOf } from '../../core/text/display.ts';
import { tables } from '../../core/schema/index.ts';
import { firstOf, ok, optionalKinds, warn, type DoctorFacts, type Verdict } from './facts.ts';

/**
 * Checks the kinds outside the Gateway API. Clusters may lack them; references to them are invalid then. The check of the
 * permissions covers the access of the controller to them.
 */
export function otherKinds({ controller: { objects } }: DoctorFacts): readonly Verdict[] {
  if (objects.type === 'unknown') return [];
  const { unserved, unobserved } = objects.value;
  const used = unserved.filter(({ users }) => users.length > 0);
  if (used.length > 0)
    return firstOf(
      'other-kinds',
      used.map(({ kind, users }) =>
        warn(
          'other-kinds',
          `the API server does not serve the kind ${kind}, but ${someOf(users)} ${users.length === 1 ? 'refers' : 'refer'} to it`,
          `kubectl api-resources --api-group=${tables[kind].group}`,
        ),
      ),
    );
  const missing = unserved.map(({ kind }) => kind);
  // The check of the objects reports which kinds cannot be read. They may be served or not.
  const unknown = new Set(unobserved.map(({ kind }) => kind));
  const served = optionalKinds.filter((kind) => !missing.includes(kind) && !unknown.has(kind));
  const parts = [
    ...(served.length === 0 ? [] : [`served: ${served.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`not served, and no object refers to them: ${missing.join(', ')}`]),
  ];
  return parts.length === 0 ? [] : [ok('other-kinds', parts.join('; '))];
}
