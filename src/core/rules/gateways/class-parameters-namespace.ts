import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Reference } from './gateway-details.ts';

const namespacedKinds: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'Service']);
const clusterKinds: ReadonlySet<string> = new Set(['Namespace', 'Node', 'PersistentVolume']);

export const classParametersNamespace = unenforcedRule(
  {
    id: 'class-parameters-namespace',
    summary: 'The parametersRef of a GatewayClass lacks a namespace, or has one although its kind is cluster-scoped.',
    effect: warned,
    source:
      'Gateway API v1.7.0, ParametersReference.namespace ("required when referring to a Namespace-scoped resource and MUST be unset when referring to a Cluster-scoped resource")',
  },
  function judge({ group = '', kind = '', namespace }: Reference, report) {
    if (group !== '') return;
    if (namespacedKinds.has(kind) && namespace === undefined)
      report({
        below: ['namespace'],
        message: `Namespace is required: a GatewayClass is cluster-scoped, and ${kind} is namespaced. Set namespace to the namespace of the ${kind}.`,
      });
    if (clusterKinds.has(kind) && namespace !== undefined)
      report({
        below: ['namespace'],
        value: display(namespace),
        message: `Namespace is not allowed: ${kind} is cluster-scoped. Remove namespace.`,
      });
  },
);
