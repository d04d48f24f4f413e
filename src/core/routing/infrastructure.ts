import {
  addresses,
  demandsRoutability,
  scopeOf,
  type AddressScope,
  type WantedAddress,
} from '../graph/listeners/addresses.ts';
import { gatewayPorts, type GatewayPort } from '../graph/listeners/gateway-listeners.ts';
import { gatewayClassName, isOurGateway } from '../graph/listeners/gateway.ts';
import { objectsOf, readObject } from '../graph/inputs.ts';
import {
  classParameters,
  gatewayParameters,
  type DataPlaneParameters,
  type ParametersNode,
} from '../graph/parameters.ts';
import { strata } from '../graph/strata.ts';
import { defineEmission } from '../incremental/index.ts';
import { qualifiedName } from '../resources/reference.ts';

/** The infrastructure to provision for a Gateway that we manage. */
export interface Infrastructure {
  /** The ports of all listeners with a supported protocol, including those of ListenerSets, in ascending order. */
  readonly ports: readonly GatewayPort[];
  readonly addresses: readonly WantedAddress[];
  /** The Services to provision. Absent if the Gateway demands no routability: only the default one. */
  readonly scopes?: readonly AddressScope[];
  /** The Gateway's parameters override those of its class. */
  readonly parameters: DataPlaneParameters;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * The infrastructure of each Gateway that we manage, valid or not. Key: `namespace/name`. A Gateway that requests only
 * unsupported protocols gets no value: its existing infrastructure may stay.
 */
export const infrastructure = defineEmission<Infrastructure>({
  name: 'infrastructure',
  stratum: strata.emissions,
  over: objectsOf('Gateway'),
  emit(read, _kind = '', namespace = '', name = '') {
    if (!read.query(isOurGateway, namespace, name)) return [];
    const ports = read.query(gatewayPorts, namespace, name);
    if (ports === undefined) return [];
    const { labels = {}, annotations = {} } = readObject(read, 'Gateway', namespace, name)?.spec?.infrastructure ?? {};
    const nodes = read.query(addresses, namespace, name);
    const wanted = nodes.flatMap((node): readonly WantedAddress[] => {
      if (node.outcome !== 'wanted') return [];
      const { type, value, routability } = node;
      return [{ type, value, ...(routability !== undefined && { routability }) }];
    });
    const scopes = nodes.some(demandsRoutability) ? { scopes: [...new Set(wanted.map(scopeOf))].sort() } : {};
    const parameters = {
      ...parametersOf(read.query(classParameters, read.query(gatewayClassName, namespace, name) ?? '')),
      ...parametersOf(read.query(gatewayParameters, namespace, name)),
    };
    return [
      {
        key: qualifiedName({ namespace, name }),
        value: { ports, addresses: wanted, ...scopes, parameters, labels, annotations },
      },
    ];
  },
});

function parametersOf(node: ParametersNode): DataPlaneParameters {
  return node.type === 'read' ? node.parameters : {};
}
