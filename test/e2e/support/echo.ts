import { apply, kubectlOutput } from './kubectl.ts';
import { waitFor } from './wait.ts';

const image = 'registry.k8s.io/gateway-api/conformance/echo-basic:v0.1.0';
const port = 3000;

/** What an echo speaks: the variables that make it do so, and how it is asked whether it is ready. */
const manners = {
  http: { env: [], probe: { httpGet: { path: '/health', port } } },
  grpc: { env: [{ name: 'GRPC_ECHO_SERVER', value: 'true' }], probe: { tcpSocket: { port } } },
};

/**
 * Makes a Service of that name on port 80 and a Deployment of two pods behind it, and waits for these. They answer with what they
 * were asked and who they are. As every server that loses nothing they go on for a while after they were told to stop,
 * so that whoever sends them requests hears of it before.
 */
export async function deployEcho(
  name: string,
  namespace: string,
  manner: keyof typeof manners = 'http',
): Promise<void> {
  const labels = { app: name };
  const { env, probe } = manners[manner];
  const container = {
    name: 'echo',
    image,
    imagePullPolicy: 'IfNotPresent',
    env: [
      ...env,
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'SERVICE_NAME', value: name },
    ],
    // One that is busy stays: what is tested is not how tests share a machine.
    readinessProbe: { ...probe, periodSeconds: 1, timeoutSeconds: 10, failureThreshold: 10 },
    resources: { requests: { cpu: '25m', memory: '32Mi' } },
    lifecycle: { preStop: { sleep: { seconds: 10 } } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const pod = {
    securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
  };
  await apply(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: { selector: labels, ports: [{ port: 80, targetPort: port }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    },
  );
  await rolledOut(name, namespace);
}

/** Scales a Deployment of echoes, and waits until the new pods serve and the others are gone. Gives their names. */
export async function scaleEcho(name: string, namespace: string, replicas: number): Promise<readonly string[]> {
  await kubectlOutput(['scale', `deployment/${name}`, '-n', namespace, `--replicas=${replicas}`]);
  await rolledOut(name, namespace);
  return waitFor('the other pods are gone', async () => {
    const pods = (
      await kubectlOutput([
        'get',
        'pods',
        '-n',
        namespace,
        '-l',
        `app=${name}`,
        '-o',
        'jsonpath={.items[*].metadata.name}',
      ])
    ).split(' ');
    return pods.length === replicas ? pods : undefined;
  });
}

async function rolledOut(name: string, namespace: string): Promise<void> {
  await kubectlOutput(['rollout', 'status', `deployment/${name}`, '-n', namespace, '--timeout=120s']);
}
