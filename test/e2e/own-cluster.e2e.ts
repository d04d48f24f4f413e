import { describe, expect, test } from '@jest/globals';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { create, createClient, loadCredentials, mergePatch } from '../../src/kubernetes/index.ts';
import { auditEvents, clusterState, useNamespace } from './support/cluster.ts';
import { apply, getObject, kubectlOutput } from './support/kubectl.ts';
import { waitFor } from './support/wait.ts';

interface Service {
  readonly status: { readonly loadBalancer: { readonly ingress?: readonly { readonly ip: string }[] } };
}

const namespace = useNamespace('own-cluster');
const port = 5300;

// What other tests rely on and a cluster of somebody else need not have.
if (clusterState === undefined)
  test('is not the cluster in use', () => {
    expect(process.env['KUBECONFIG']).toBeDefined();
  });
else {
  describe('our own cluster', () => {
    test('carries UDP to the pods behind the address of a LoadBalancer', async () => {
      await apply(echoPod(), {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'echo', namespace },
        spec: { type: 'LoadBalancer', selector: { app: 'echo' }, ports: [{ protocol: 'UDP', port, targetPort: 8080 }] },
      });
      await kubectlOutput(['wait', '-n', namespace, '--for=condition=Ready', 'pod/echo', '--timeout=120s']);
      const address = await waitFor(
        'an address for the Service',
        async () =>
          (await getObject<Service>(['service', 'echo', '-n', namespace])).status.loadBalancer.ingress?.[0]?.ip,
      );
      expect(await waitFor('an echo', async () => await ask(address))).toMatchObject({ pod: 'echo', request: 'hello' });
    });

    test('leaves a Service pending whose wished address is foreign', async () => {
      await apply(
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'foreign', namespace },
          spec: { type: 'LoadBalancer', loadBalancerIP: '10.81.0.1', ports: [{ port: 80 }] },
        },
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'wished', namespace },
          spec: { type: 'LoadBalancer', loadBalancerIP: '10.80.9.9', ports: [{ port: 80 }] },
        },
      );
      const addressOf = async (name: string): Promise<string | undefined> =>
        (await getObject<Service>(['service', name, '-n', namespace])).status.loadBalancer.ingress?.[0]?.ip;
      expect(await waitFor('the wished address', async () => await addressOf('wished'))).toBe('10.80.9.9');
      expect(await addressOf('foreign')).toBeUndefined();
    });

    test('gives a Service one address, however often it is changed meanwhile', async () => {
      const client = createClient(await loadCredentials('default'));
      const writer = { client, type: { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true } };
      const names = Array.from({ length: 20 }, (_, index) => `changed-${index}`);
      const serviceOf = (name: string) =>
        create(writer, {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name, namespace },
          spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
        });
      const change = async (name: string): Promise<void> => {
        await serviceOf(name);
        for (let count = 0; count < 5; count += 1)
          await mergePatch(writer, { namespace, name }, { metadata: { labels: { count: String(count) } } });
      };
      await Promise.all(names.map(change));
      // The load balancer reads changes in their order: when it has served this one, it has read all others.
      await serviceOf('last');
      await client.close();
      const assigned = await waitFor('an address for the last Service', async () => {
        const writes = ((await auditEvents()) ?? []).filter(
          ({ stage, verb, objectRef }) =>
            stage === 'ResponseComplete' &&
            verb === 'patch' &&
            objectRef?.subresource === 'status' &&
            objectRef.resource === 'services' &&
            objectRef.namespace === namespace,
        );
        const written = writes.map(({ objectRef }) => objectRef?.name ?? '');
        return written.includes('last') ? written : undefined;
      });
      // A second write would take the first address away.
      expect(assigned.filter((name) => names.includes(name)).toSorted()).toEqual(names.toSorted());
    });

    test('logs who asked the API server for what', async () => {
      const events = await waitFor('the events of this namespace', async () => {
        const found = ((await auditEvents()) ?? []).filter(
          ({ verb, objectRef }) =>
            verb === 'create' && objectRef?.resource === 'namespaces' && objectRef.name === namespace,
        );
        return found.length > 0 ? found : undefined;
      });
      expect(events).toMatchObject([
        { stage: 'ResponseComplete', user: { username: 'admin' }, responseStatus: { code: 201 } },
      ]);
    });
  });
}

function echoPod(): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'echo', namespace, labels: { app: 'echo' } },
    spec: {
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'echo',
          image: 'registry.k8s.io/gateway-api/conformance/echo-basic:v0.2.0',
          env: [
            { name: 'UDP_ECHO_SERVER', value: '1' },
            { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          ],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}

/** What the echo server says to one datagram; undefined where no answer comes within a second. */
async function ask(address: string): Promise<unknown> {
  const socket = createSocket('udp4');
  try {
    socket.send('hello', port, address);
    const [message] = (await once(socket, 'message', { signal: AbortSignal.timeout(1000) })) as [Buffer];
    return JSON.parse(message.toString());
  } finally {
    socket.close();
  }
}
