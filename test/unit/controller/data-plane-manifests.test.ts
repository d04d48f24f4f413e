import { describe, expect, test } from '@jest/globals';
import { addressesOfService, gatewayOfChild } from '../../../src/controller/data-plane-objects.ts';
import { recordOf } from '../../../src/core/text/record.ts';
import { clusterServiceName, dataPlaneName, labelValue } from '../../../src/controller/names.ts';
import { tcpPorts } from '../../support/gateway-ports.ts';
import {
  allObjects,
  desiredObjects,
  keepingClass,
  type GatewayFacts,
} from '../../../src/controller/data-plane-manifests.ts';

const facts: GatewayFacts = {
  namespace: 'shop',
  name: 'web',
  uid: 'u1',
  ports: tcpPorts(80, 19_090),
  addresses: [],
  parameters: {},
  labels: { team: 'a', 'gateway.networking.k8s.io/gateway-name': 'spoof' },
  annotations: { note: 'b' },
};
const settings = { image: 'sallyport:1', controller: 'c.ns.svc:8443', audience: 'a', authority: 'PEM' };

describe('names', () => {
  test.each(['web', 'a.b.c', '1st', 'x'.repeat(253), 'x'.repeat(53), 'x'.repeat(54), 'ends.'.padEnd(60, 'y')])(
    'of %s are valid labels',
    (gateway) => {
      expect(dataPlaneName(gateway)).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
      expect(clusterServiceName(gateway)).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
      expect(labelValue(gateway)).toMatch(/^[a-z0-9A-Z]([-._a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/);
    },
  );

  test('tell Gateways apart that look alike', () => {
    const names = ['a.b', 'a-b', 'x'.repeat(100), 'x'.repeat(101)];
    const all = names.flatMap((name) => [dataPlaneName(name), clusterServiceName(name)]);
    expect(new Set(all).size).toBe(2 * names.length);
    expect(new Set(names.map(labelValue)).size).toBe(names.length);
  });
});

describe('objects of a data plane', () => {
  const objects = desiredObjects(facts, settings);

  test('there is one of each kind, in the order of need; all belong to the Gateway and carry its labels and annotations', () => {
    expect(objects.map(({ kind }) => kind)).toEqual([
      'ServiceAccount',
      'ConfigMap',
      'Service',
      'Deployment',
      'PodDisruptionBudget',
    ]);
    for (const { metadata } of objects) {
      expect(metadata).toMatchObject({
        namespace: 'shop',
        name: 'web-sallyport',
        labels: { team: 'a', 'gateway.networking.k8s.io/gateway-name': 'web' },
        annotations: { note: 'b' },
      });
      expect(gatewayOfChild({ metadata })).toBe('shop/web');
    }
    expect(new Set(allObjects('shop', 'web').map(({ kind }) => kind))).toEqual(
      new Set(objects.map(({ kind }) => kind)),
    );
  });

  test('the Service has the ports of the listeners, and the probes keep out of their way', () => {
    expect(objects[2]).toMatchObject({
      spec: {
        type: 'LoadBalancer',
        ports: [
          { port: 80, targetPort: 80 },
          { port: 19_090, targetPort: 19_090 },
        ],
      },
    });
    expect(JSON.stringify(objects[3])).toContain('--probe-port=19091');
  });

  test('the pod passes the restricted Pod Security Standard', () => {
    expect(objects[3]).toMatchObject({
      spec: {
        template: {
          spec: {
            automountServiceAccountToken: false,
            securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
            containers: [{ securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
          },
        },
      },
    });
  });

  test('a listener more rolls out no new pods', () => {
    const after = desiredObjects({ ...facts, ports: tcpPorts(80, 443, 19_090) }, settings);
    expect(after[3]).toEqual(objects[3]);
    expect(after[2]).not.toEqual(objects[2]);
  });

  test('the number of replicas is left to an autoscaler', () => {
    expect(objects[3]?.['spec']).not.toHaveProperty('replicas');
  });

  test.each<[GatewayFacts['parameters'], object]>([
    [{}, { type: 'LoadBalancer', loadBalancerIP: '192.0.2.7' }],
    [
      { loadBalancerClass: 'example.com/internal', externalTrafficPolicy: 'Local' },
      {
        type: 'LoadBalancer',
        loadBalancerClass: 'example.com/internal',
        externalTrafficPolicy: 'Local',
        loadBalancerIP: '192.0.2.7',
      },
    ],
    [
      { serviceType: 'NodePort', loadBalancerClass: 'example.com/internal', externalTrafficPolicy: 'Local' },
      { type: 'NodePort', externalTrafficPolicy: 'Local' },
    ],
    [
      { serviceType: 'ClusterIP', loadBalancerClass: 'example.com/internal', externalTrafficPolicy: 'Local' },
      { type: 'ClusterIP' },
    ],
  ])('parameters %j make the Service one that the API server takes', (parameters, expected) => {
    const addresses = [
      { type: 'Hostname', value: 'lb.example.com' },
      { type: 'IPAddress', value: '' },
      { type: 'IPAddress', value: '192.0.2.7' },
      { type: 'IPAddress', value: '192.0.2.8' },
    ] as const;
    expect(desiredObjects({ ...facts, addresses, parameters }, settings)[2]?.['spec']).toEqual({
      ...expected,
      ports: expect.any(Array),
      selector: expect.any(Object),
    });
  });

  const cluster = { type: 'IPAddress', value: '', routability: 'Cluster' } as const;
  const servicesOf = (change: Partial<GatewayFacts>): readonly unknown[] =>
    desiredObjects({ ...facts, ...change }, settings)
      .filter(({ kind }) => kind === 'Service')
      .map(({ metadata: { name }, spec }) => {
        const { ports: _ports, selector: _selector, ...exposure } = recordOf(spec);
        return [name, exposure];
      });
  const base = dataPlaneName(facts.name);
  const clusterOnly = { type: 'ClusterIP', ipFamilyPolicy: 'SingleStack' };

  test('an address with a routability comes from a Service that only the cluster reaches, whatever the type of the other', () => {
    const parameters = { serviceType: 'LoadBalancer', loadBalancerClass: 'example.com/public' };
    expect(servicesOf({ addresses: [cluster], scopes: ['Cluster'], parameters })).toEqual([
      [`${base}-cluster`, clusterOnly],
    ]);
  });

  test('requests of both kinds make two Services, and none makes none', () => {
    const open = { type: 'IPAddress', value: '192.0.2.7' } as const;
    expect(servicesOf({ addresses: [cluster, open], scopes: ['Cluster', 'Default'] })).toEqual([
      [`${base}-cluster`, clusterOnly],
      [base, { type: 'LoadBalancer', loadBalancerIP: '192.0.2.7' }],
    ]);
    expect(servicesOf({ scopes: [] })).toEqual([]);
  });

  test.each<[readonly string[], object]>([
    [['10.96.0.9'], { ...clusterOnly, clusterIP: '10.96.0.9' }],
    [['', ''], { type: 'ClusterIP', ipFamilyPolicy: 'PreferDualStack' }],
    [
      ['10.96.0.9', 'fd00::9'],
      {
        type: 'ClusterIP',
        ipFamilyPolicy: 'PreferDualStack',
        clusterIP: '10.96.0.9',
        clusterIPs: ['10.96.0.9', 'fd00::9'],
      },
    ],
  ])('cluster addresses %j are requested', (values, expected) => {
    const addresses = values.map((value) => ({ ...cluster, value }));
    expect(servicesOf({ addresses, scopes: ['Cluster'] })).toEqual([[`${base}-cluster`, expected]]);
  });

  const addressPool = [{ first: 1n, last: 2n }];

  test.each<[GatewayFacts['parameters'], string | undefined]>([
    [{}, 'sallyport.dev/address-pool'],
    [{ loadBalancerClass: 'example.com/internal' }, 'example.com/internal'],
    [{ serviceType: 'NodePort' }, undefined],
  ])('with a pool of addresses and parameters %j the load balancer class is %s', (parameters, expected) => {
    expect(
      recordOf(desiredObjects({ ...facts, parameters }, { ...settings, addressPool })[2]?.['spec'])[
        'loadBalancerClass'
      ],
    ).toBe(expected);
    expect(
      recordOf(desiredObjects({ ...facts, parameters }, { ...settings, addressPool: [] })[2]?.['spec'])[
        'loadBalancerClass'
      ],
    ).toBe(parameters.loadBalancerClass);
  });

  test('no address is asked for where any will do', () => {
    expect(desiredObjects({ ...facts, addresses: [{ type: 'IPAddress', value: '' }] }, settings)[2]).toEqual(
      objects[2],
    );
  });

  test('parameters say how many pods there are, and what each requests', () => {
    expect(objects[3]).toMatchObject({
      spec: { template: { spec: { containers: [{ resources: { requests: { cpu: '100m', memory: '96Mi' } } }] } } },
    });
    expect(desiredObjects({ ...facts, parameters: { replicas: 3, cpu: '250m' } }, settings)[3]).toMatchObject({
      spec: {
        replicas: 3,
        template: { spec: { containers: [{ resources: { requests: { cpu: '250m', memory: '96Mi' } } }] } },
      },
    });
  });

  test.each([
    [{}, '96Mi', '768Mi', 384],
    [{ workers: '2' }, '128Mi', '832Mi', 416],
    [{ memoryLimit: '512Mi' }, '96Mi', '512Mi', 384],
    [{ memoryLimit: '1Gi' }, '96Mi', '1Gi', 512],
    [{ memory: '300Mi', memoryLimit: '256Mi' }, '256Mi', '256Mi', 192],
    [{ memory: '1Gi' }, '1Gi', '1Gi', 512],
    [{ memory: '1Gi', memoryLimit: '1024Mi' }, '1Gi', '1024Mi', 512],
  ])(
    'with parameters %j a pod requests %s of memory, is limited to %s, and has a heap of %i MiB',
    (parameters, memory, limit, heap) => {
      expect(desiredObjects({ ...facts, parameters }, settings)[3]).toMatchObject({
        spec: {
          template: {
            spec: {
              containers: [
                {
                  resources: { requests: { memory }, limits: { memory: limit } },
                  env: [{}, { name: 'NODE_OPTIONS', value: expect.stringContaining(`--max-old-space-size=${heap} `) }],
                },
              ],
            },
          },
        },
      });
    },
  );

  test.each([
    [{}, 1, 384],
    [{ cpuLimit: '500m' }, 1, 384],
    [{ cpuLimit: '2' }, 2, 416],
    [{ workers: '3' }, 3, 448],
    [{ workers: '8' }, 4, 608],
  ])('with parameters %j V8 has %i helper threads and a heap of %i MiB', (parameters, helpers, heap) => {
    const options = `--max-old-space-size=${heap} --v8-pool-size=${helpers}`;
    expect(desiredObjects({ ...facts, parameters }, settings)[3]).toMatchObject({
      spec: { template: { spec: { containers: [{ env: [{}, { name: 'NODE_OPTIONS', value: options }] }] } } },
    });
  });

  test.each([
    [{}, { cpu: '100m', memory: '96Mi', memoryLimit: '768Mi' }],
    [{ workers: '4' }, { cpu: '100m', memory: '192Mi', memoryLimit: '960Mi', workers: '4' }],
    [{ cpuLimit: '2' }, { cpu: '100m', limit: '2', memory: '128Mi', memoryLimit: '832Mi' }],
    [{ cpuLimit: '50m' }, { cpu: '50m', limit: '50m', memory: '96Mi', memoryLimit: '768Mi' }],
    [
      { cpu: '2', cpuLimit: '1500m' },
      { cpu: '1500m', limit: '1500m', memory: '96Mi', memoryLimit: '768Mi' },
    ],
    [
      { cpu: '1', cpuLimit: '1500m', workers: '2', memory: '200Mi' },
      { cpu: '1', limit: '1500m', memory: '200Mi', memoryLimit: '832Mi', workers: '2' },
    ],
  ])('with parameters %j a pod has the CPUs, memory and workers %j', (parameters, expected) => {
    const { cpu, limit, memory, memoryLimit, workers }: Record<string, string> = expected;
    const deployment = JSON.stringify(desiredObjects({ ...facts, parameters }, settings)[3]);
    const limits = limit === undefined ? '' : `"cpu":"${limit}",`;
    expect(deployment).toContain(
      `"resources":{"requests":{"cpu":"${cpu}","memory":"${memory}"},"limits":{${limits}"memory":"${memoryLimit}"}}`,
    );
    expect(/"--workers=(?<count>\d+)"/.exec(deployment)?.groups?.['count']).toBe(workers);
  });

  test('parameters set the limits of TCP and UDP', () => {
    const args = JSON.stringify(
      desiredObjects(
        { ...facts, parameters: { tcpIdleTimeout: '1h30m', udpIdleTimeout: '90s', udpFlows: '100' } },
        settings,
      )[3],
    );
    expect(args).toContain('"--tcp-idle-timeout=1h30m","--udp-idle-timeout=90s","--udp-flows=100"');
    expect(JSON.stringify(objects[3])).not.toMatch(/--tcp|--udp/);
  });

  test('parameters say where proxies speak the PROXY protocol', () => {
    const args = JSON.stringify(
      desiredObjects(
        {
          ...facts,
          parameters: {
            acceptProxyProtocol: '10.0.0.0/8, ::1',
            sendProxyProtocol: '25=v1',
            internalBackendNetworks: '10.20.0.0/16',
          },
        },
        settings,
      )[3],
    );
    expect(args).toContain('"--accept-proxy-protocol=10.0.0.0/8, ::1","--send-proxy-protocol=25=v1"');
    expect(args).toContain('"--internal-backend-networks=10.20.0.0/16"');
    expect(JSON.stringify(objects[3])).not.toContain('proxy-protocol');
  });

  test('a parameter says how many connections proxies observe from a client', () => {
    const args = JSON.stringify(desiredObjects({ ...facts, parameters: { connectionsPerClient: '7' } }, settings)[3]);
    expect(args).toContain('"--connections-per-client=7"');
    expect(JSON.stringify(objects[3])).not.toContain('--connections-per-client');
  });

  test.each([
    [{}, []],
    [{ forwarded: 'replace' }, ['--forwarded=replace']],
  ])('with parameters %j proxies are told %j about what clients claim', (parameters, expected) => {
    const spec = recordOf(
      recordOf(recordOf(desiredObjects({ ...facts, parameters }, settings)[3]?.['spec'])['template'])['spec'],
    );
    const [container] = spec['containers'] as readonly [{ readonly args: readonly string[] }];
    expect(container.args.filter((argument) => argument.startsWith('--forwarded'))).toEqual(expected);
  });

  test('a proxy that is busy keeps its traffic', () => {
    expect(desiredObjects(facts, settings)[3]).toMatchObject({
      spec: {
        template: {
          spec: { containers: [{ readinessProbe: { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 5 } }] },
        },
      },
    });
  });

  test('TCP and UDP ports of one number are two ports of the Service', () => {
    const both = desiredObjects({ ...facts, ports: [...tcpPorts(53), { port: 53, transport: 'UDP' }] }, settings)[2];
    expect(both).toMatchObject({
      spec: {
        ports: [
          { name: 'tcp-53', port: 53, targetPort: 53, protocol: 'TCP' },
          { name: 'udp-53', port: 53, targetPort: 53, protocol: 'UDP' },
        ],
      },
    });
  });

  test('without ports there is nothing', () => {
    expect(desiredObjects({ ...facts, ports: [] }, settings)).toEqual([]);
  });
});

describe('the load balancer class of a Service that is there', () => {
  const ours = 'sallyport.dev/address-pool';
  const theirs = 'example.com/theirs';
  const service = (spec: object) => ({ kind: 'Service', metadata: { name: 'x' }, spec });

  test.each<[string, object | undefined, object, object]>([
    [
      'stays missing',
      { type: 'LoadBalancer' },
      { type: 'LoadBalancer', loadBalancerClass: ours },
      { type: 'LoadBalancer' },
    ],
    [
      'stays what somebody chose',
      { type: 'LoadBalancer', loadBalancerClass: theirs },
      { type: 'LoadBalancer', loadBalancerClass: ours },
      { type: 'LoadBalancer', loadBalancerClass: theirs },
    ],
    [
      'stays ours when there is no pool any more',
      { type: 'LoadBalancer', loadBalancerClass: ours },
      { type: 'LoadBalancer' },
      { type: 'LoadBalancer', loadBalancerClass: ours },
    ],
    [
      'is what a parameter says',
      { type: 'LoadBalancer' },
      { type: 'LoadBalancer', loadBalancerClass: theirs },
      { type: 'LoadBalancer', loadBalancerClass: theirs },
    ],
    [
      'can still be chosen where it had no use for one',
      { type: 'ClusterIP' },
      { type: 'LoadBalancer', loadBalancerClass: ours },
      { type: 'LoadBalancer', loadBalancerClass: ours },
    ],
    [
      'is chosen for a new one',
      undefined,
      { type: 'LoadBalancer', loadBalancerClass: ours },
      { type: 'LoadBalancer', loadBalancerClass: ours },
    ],
    [
      'goes with the type',
      { type: 'LoadBalancer', loadBalancerClass: ours },
      { type: 'NodePort' },
      { type: 'NodePort' },
    ],
  ])('%s', (_, live, wanted, expected) => {
    expect(keepingClass(live && service(live), service(wanted))).toEqual(service(expected));
  });

  test('is nothing that other objects have', () => {
    const deployment = { kind: 'Deployment', metadata: { name: 'x' }, spec: { replicas: 1 } };
    expect(keepingClass(service({ type: 'LoadBalancer', loadBalancerClass: theirs }), deployment)).toBe(deployment);
  });
});

describe('what the cluster says of them', () => {
  test.each([
    [
      { type: 'ClusterIP', clusterIPs: ['10.96.0.7', 'fd00::7', null] },
      [
        { type: 'IPAddress', value: '10.96.0.7', routability: 'Cluster' },
        { type: 'IPAddress', value: 'fd00::7', routability: 'Cluster' },
      ],
    ],
    [
      { type: 'NodePort', clusterIPs: ['10.96.0.7'] },
      [{ type: 'IPAddress', value: '10.96.0.7', routability: 'Cluster' }],
    ],
    [{ type: 'ClusterIP', clusterIPs: ['None'] }, []],
    [{ type: 'LoadBalancer', clusterIPs: ['10.96.0.7'] }, []],
  ])('addresses of a Service %j', (spec, expected) => {
    expect(addressesOfService({ metadata: { name: 'x' }, spec })).toEqual(expected);
  });

  test.each([
    [
      { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'lb.example' }, {}, null] } },
      [
        { type: 'IPAddress', value: '192.0.2.1' },
        { type: 'Hostname', value: 'lb.example' },
      ],
    ],
    [{ loadBalancer: { ingress: null } }, []],
    [undefined, []],
  ])('addresses of %j', (status, expected) => {
    expect(addressesOfService({ metadata: { name: 'x' }, status })).toEqual(expected);
  });

  test('objects that nobody marked are not ours', () => {
    expect(
      gatewayOfChild({
        metadata: { name: 'x', ownerReferences: [{ kind: 'Gateway', name: 'web', controller: true }] },
      }),
    ).toBeUndefined();
  });
});
