import { backendKey } from '../graph/backends/backend-object.ts';
import { objectsOf, readObject } from '../graph/inputs.ts';
import { strata } from '../graph/strata.ts';
import { defineEmission } from '../incremental/index.ts';
import { qualifiedName } from '../resources/reference.ts';
import { portsInUse } from '../rules/engine/backend-users.ts';

/** The Service whose EndpointSlices list the pods that an XBackend selects. */
export interface SelectorService {
  readonly selector: Readonly<Record<string, string>>;
  /** The port of the pods. */
  readonly port: number;
}

/**
 * The Service of each XBackend of type EndpointSelector that our routes and listeners use, accepted or not. Key: `namespace/name` of the XBackend.
 */
export const selectorServices = defineEmission<SelectorService>({
  name: 'selectorServices',
  stratum: strata.emissions,
  over: objectsOf('XBackend'),
  emit(read, _kind, namespace = '', name = '') {
    const { type, port, endpointSelector } = readObject(read, 'XBackend', namespace, name)?.spec ?? {};
    const selector = endpointSelector?.matchLabels ?? {};
    // A Service without a selector has no EndpointSlices of its own.
    if (type !== 'EndpointSelector' || port?.number === undefined) return [];
    if (Object.keys(selector).length === 0) return [];
    if (read.list(portsInUse, backendKey({ kind: 'XBackend', namespace, name })).length === 0) return [];
    return [{ key: qualifiedName({ namespace, name }), value: { selector, port: port.number } }];
  },
});
