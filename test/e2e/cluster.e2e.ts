import { beforeAll, describe, expect, test } from '@jest/globals';
import { image, useNamespace } from './support/cluster.ts';
import { apply, getObject, kubectlOutput } from './support/kubectl.ts';
import { waitFor } from './support/wait.ts';

interface Pod {
  readonly status: { readonly phase: string };
}

const namespace = useNamespace('cluster');
const node = '/nodejs/bin/node';

describe('the cluster', () => {
  test('has an API server that is ready and a node that takes pods', async () => {
    expect(await kubectlOutput(['get', '--raw', '/readyz'])).toBe('ok');
    await kubectlOutput(['wait', '--for=condition=Ready', 'node', '--all', '--timeout=60s']);
  });

  test('resolves names of Services from a pod', async () => {
    const script =
      'require("node:dns").promises.lookup("kubernetes.default").then(({ address }) => console.log(address))';
    const service = await getObject<{ spec: { clusterIP: string } }>(['service', 'kubernetes', '-n', 'default']);
    expect(await outputOf('dns', { command: [node, '-e', script] })).toBe(`${service.spec.clusterIP}\n`);
  });
});

describe('the image', () => {
  beforeAll(async () => {
    await apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'objects', namespace },
      data: {
        'class.yaml':
          'apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: { name: sallyport }\nspec: { controllerName: sallyport.dev/gateway }\n',
      },
    });
  });

  test('runs as a user without rights on a file system that cannot be written', async () => {
    const script =
      'let written = "yes"; try { require("node:fs").writeFileSync("/app/file", "") } catch (error) { written = error.code } console.log(process.getuid(), written)';
    expect(await outputOf('rights', { command: [node, '-e', script] })).toBe('65532 EROFS\n');
  });

  test('starts the program, which reads a mounted ConfigMap', async () => {
    expect(await outputOf('check', { args: ['check', '/objects/class.yaml'] })).toContain('1 object');
  });
});

/** What a pod of the project's image prints, once it has succeeded. */
async function outputOf(
  name: string,
  container: { readonly command?: readonly string[]; readonly args?: readonly string[] },
): Promise<string> {
  await apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      restartPolicy: 'Never',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      volumes: [{ name: 'objects', configMap: { name: 'objects', optional: true } }],
      containers: [
        {
          name,
          image,
          imagePullPolicy: 'IfNotPresent',
          ...container,
          volumeMounts: [{ name: 'objects', mountPath: '/objects' }],
          securityContext: {
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  });
  const phase = await waitFor(`pod ${name} ends`, async () => {
    const pod = await getObject<Pod>(['pod', name, '-n', namespace]);
    return ['Succeeded', 'Failed'].includes(pod.status.phase) ? pod.status.phase : undefined;
  });
  const output = await kubectlOutput(['logs', name, '-n', namespace]);
  if (phase === 'Failed') throw new Error(`pod ${name} failed: ${output}`);
  return output;
}
