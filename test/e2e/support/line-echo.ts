import { image } from './cluster.ts';
import { apply, kubectlOutput } from './kubectl.ts';

/** Ports of the Service; what comes by the second one is TLS. */
export const lineEchoPorts = { tcp: 7000, tls: 7443, udp: 7000 };

/** Answers each line, and each datagram, with the Service, the pod and what came. */
const program = `
const { createServer } = require('node:net'), tls = require('node:tls'), { createSocket } = require('node:dgram'), { readFileSync } = require('node:fs');
const name = process.env.SERVICE + ' ' + process.env.POD_NAME;
const serve = (socket) => {
  let rest = '';
  socket.on('error', () => {}).on('data', (chunk) => {
    const lines = (rest + chunk).split('\\n');
    rest = lines.pop();
    for (const line of lines) socket.write(name + ' ' + line + '\\n');
  });
};
createServer(serve).listen(7000);
tls.createServer({ cert: readFileSync('/certificate/tls.crt'), key: readFileSync('/certificate/tls.key') }, serve).on('tlsClientError', () => {}).listen(7443);
const datagrams = createSocket('udp4');
datagrams.on('message', (message, from) => datagrams.send(name + ' ' + message, from.port, from.address)).bind(7000);
`;

/**
 * Makes a Service and a Deployment of two pods of that name, whose TLS has the certificate of a Secret, and waits for them. They go on for
 * ten seconds after they were told to stop.
 */
export async function deployLineEcho(name: string, namespace: string, secret: string): Promise<void> {
  const labels = { app: name };
  const { tcp, tls, udp } = lineEchoPorts;
  const container = {
    name: 'echo',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['/nodejs/bin/node', '-e', program],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'SERVICE', value: name },
    ],
    readinessProbe: { tcpSocket: { port: tls }, periodSeconds: 1, timeoutSeconds: 10, failureThreshold: 10 },
    resources: { requests: { cpu: '25m', memory: '48Mi' } },
    lifecycle: { preStop: { sleep: { seconds: 10 } } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeMounts: [{ name: 'certificate', mountPath: '/certificate', readOnly: true }],
  };
  const pod = {
    securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
    volumes: [{ name: 'certificate', secret: { secretName: secret } }],
  };
  const ports = [
    { name: 'tcp', port: tcp, protocol: 'TCP' },
    { name: 'tls', port: tls, protocol: 'TCP' },
    { name: 'udp', port: udp, protocol: 'UDP' },
  ];
  await apply(
    { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: { selector: labels, ports } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    },
  );
  await kubectlOutput(['rollout', 'status', `deployment/${name}`, '-n', namespace, '--timeout=120s']);
}
