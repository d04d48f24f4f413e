import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Reference } from './gateway-details.ts';

const namespacedKinds: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'Service']);
const clusterKinds: ReadonlySet<string> = new Set(['Namespace', 'Node', 'PersistentVolume']);

export const classParametersNamespace = unenforcedRule({
  id: 'class-parameters-namespace',
  summary: 'The parameters of a GatewayClass lack their namespace, or have one that their kind does not have.',
  effect: warned,
  source: 'Gateway API v1.7.0, ParametersReference.namespace ("required when referring to a Namespace-scoped resource and MUST be unset when referring to a Cluster-scoped resource")',
}, function judge({ group = '', kind = '', namespace }: Reference, report) {
  if (group !== '') return;
  if (namespacedKinds.has(kind) && namespace === undefined) report({ below: ['namespace'], message: `A GatewayClass is in no namespace, so parametersRef has to say where the ${kind} is. Write namespace with that of the ${kind}.` });
  if (clusterKinds.has(kind) && namespace !== undefined) report({ below: ['namespace'], value: display(namespace), message: `A ${kind} is in no namespace. Remove namespace.` });
});
