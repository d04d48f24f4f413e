import { findingCounts } from '../../../src/core/admission/impact.ts';
import { createEvaluation } from '../../../src/core/evaluation.ts';
import { installationCell } from '../../../src/core/graph/inputs.ts';
import { write, type Kernel, type Write } from '../../../src/core/incremental/index.ts';
import { candidateOf, installation, writeOf } from '../../support/evaluation.ts';
import { classOf, gatewayApi, ourClassName, sharedGateway, stored } from './objects.ts';
import { updatedObjects } from './reviews.ts';

const routesPerService = 10;

/**
 * What a cluster with that many more routes looks like to a webhook that has seen all of it: ten to a Service, all on
 * one Gateway. 0: nothing was seen at all, so everything that is referred to is missing.
 */
export function worldOf(routes: number): Kernel {
  const kernel = createEvaluation([findingCounts]);
  kernel.apply([write(installationCell, [], installation)]);
  if (routes === 0) return kernel;
  const ours = classOf({ name: ourClassName, fault: 'none', version: 'before' });
  const objects = [ours, sharedGateway(8080), ...updatedObjects()].map(stored);
  const services = Array.from({ length: Math.ceil(routes / routesPerService) }, (_, number) => service(number));
  const others = Array.from({ length: routes }, (_, number) => route(number));
  kernel.apply([...objects, ...services, ...others].map(upsert));
  return kernel;
}

function upsert(json: unknown): Write {
  const { resource } = candidateOf(json);
  return writeOf(resource.ref, resource);
}

function service(number: number): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `service-${number}`, namespace: 'shop' },
    spec: { ports: [{ name: 'http', port: 8080 }] },
  };
}

function route(number: number): unknown {
  const backendRefs = [{ name: `service-${Math.floor(number / routesPerService)}`, port: 8080 }];
  const rules = [
    {
      matches: [{ path: { type: 'Exact', value: '/' }, headers: [{ name: 'x-version', value: 'next' }] }],
      backendRefs,
    },
    { matches: [{ path: { type: 'PathPrefix', value: '/' } }], timeouts: { request: '5s' }, backendRefs },
  ];
  return {
    apiVersion: gatewayApi,
    kind: 'HTTPRoute',
    metadata: { name: `route-${number}`, namespace: 'shop', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      parentRefs: [{ name: 'front', namespace: 'infra', sectionName: 'web' }],
      hostnames: [`host-${number}.example.com`],
      rules,
    },
  };
}
