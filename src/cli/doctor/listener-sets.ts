import type { StoredObject } from '../../core/preflight/target.ts';
import { recordOf } from '../../core/text/record.ts';

/** Returns the Gateway of a ListenerSet: `namespace/name`. */
export function parentOf({ ref, json }: StoredObject): string {
  const { namespace = ref.namespace, name = '' } = recordOf(recordOf(json['spec'])['parentRef']);
  return `${typeof namespace === 'string' ? namespace : ''}/${typeof name === 'string' ? name : ''}`;
}
