import { tables, type KindName } from '../../src/core/schema/index.ts';
import { customResourceDefinitions } from '../../src/kubernetes/index.ts';
import type { StoredObject } from './api-server/object.ts';
import { seed, type KubernetesStage } from './kubernetes.ts';

/** Defines a kind of the Gateway API in a fake API server, served in these versions, with any content. */
export function defineKind(stage: KubernetesStage, kind: KindName, ...versions: readonly string[]): StoredObject {
  const { group, plural, namespaced } = tables[kind];
  return seed(stage, customResourceDefinitions, {
    metadata: {
      name: `${plural}.${group}`,
      annotations: {
        'gateway.networking.k8s.io/bundle-version': 'v1.7.0',
        'gateway.networking.k8s.io/channel': 'standard',
      },
    },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, plural },
      versions: versions.map((name) => ({ name, served: true, storage: true, subresources: { status: {} } })),
    },
    status: { conditions: [{ type: 'Established', status: 'True' }], storedVersions: versions },
  });
}
