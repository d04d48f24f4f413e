import type { ListenerOwner } from '../graph/listeners/listener-sets.ts';
import type { ConfigKey } from './config.ts';
import { qualifiedName } from '../resources/reference.ts';

/** The configuration key of a listener. It starts with the Gateway that serves it, whoever its owner is. */
export function configuredListener(
  gateway: { readonly namespace: string; readonly name: string },
  { kind, namespace, name }: ListenerOwner,
  listener: string,
): ConfigKey {
  const owner = kind === 'Gateway' ? [] : [namespace, name];
  return ['listener', gateway.namespace, gateway.name, ...owner, escaped(listener)].join('/');
}

/** `namespace/name` of the Gateway that serves the listener of such a key. */
export function gatewayOfListener(key: ConfigKey): string {
  const [, namespace = '', name = ''] = key.split('/');
  return qualifiedName({ namespace, name });
}

/**
 * Escapes a listener name, so that keys stay unique: a stored listener may have any name, including one that looks like the
 * name of a ListenerSet and its listener.
 */
function escaped(name: string): string {
  return name.replaceAll('%', '%25').replaceAll('/', '%2F');
}
