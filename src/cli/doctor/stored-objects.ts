import { shellWord } from '../../core/preflight/finding.ts';
import type { StoredObject } from '../../core/preflight/target.ts';
import { quoteRef, type ObjectRef } from '../../core/resources/reference.ts';
import { recordOf, textOf, type JsonRecord } from '../../core/text/record.ts';

/** Returns the Gateway of a ListenerSet: `namespace/name`. */
export function parentOf({ ref, json }: StoredObject): string {
  const { namespace = ref.namespace, name } = recordOf(recordOf(json['spec'])['parentRef']);
  return `${textOf(namespace)}/${textOf(name)}`;
}

/** Returns the command that shows an object with its conditions and Events. */
export function describeCommand({ kind, namespace, name }: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return `kubectl describe ${kind.toLowerCase()} ${shellWord(name)}${namespace === '' ? '' : ` -n ${shellWord(namespace)}`}`;
}

/** Describes a condition of an object: `Gateway "shop/web": Accepted is False (Invalid): …`. */
export function describeCondition({ ref }: StoredObject, condition: JsonRecord): string {
  const { type, status, reason, message } = condition;
  return `${quoteRef(ref)}: ${textOf(type)} is ${textOf(status)} (${textOf(reason)}): ${textOf(message)}`;
}
