import { afterEach, expect, test } from '@jest/globals';
import { createCounters } from '../../../src/proxy/counters.ts';
import { createQuotas } from '../../../src/proxy/limits/quota.ts';
import { Sessions } from '../../../src/proxy/sessions/sessions.ts';
import type { DataPlane } from '../../../src/proxy/data-plane.ts';
import { EndpointRegistry } from '../../../src/proxy/upstream/endpoints.ts';
import { Identities } from '../../../src/proxy/listen/identities.ts';
import { Front } from '../../../src/proxy/front.ts';
import { defaultLimits } from '../../../src/proxy/limits/limits.ts';
import { Http1Forwarder } from '../../../src/proxy/upstream/http1-forwarder.ts';
import { OwnConnections } from '../../../src/proxy/layer4/own-connections.ts';
import { Tracing } from '../../../src/proxy/messages/tracing.ts';
import { Layer4Routes } from '../../../src/proxy/layer4/routes.ts';
import { sendRaw, throwFault, web } from '../../support/proxy.ts';

const counters = createCounters();
const quotas = createQuotas(defaultLimits, counters);
const plane: DataPlane = {
  now: () => performance.now(),
  sessions: new Sessions(counters.sessions),
  match: () => undefined,
  ruleOf: () => undefined,
  endpoints: new EndpointRegistry(() => undefined),
  forwarder: new Http1Forwarder(defaultLimits, throwFault, quotas),
  certificates: () => undefined,
  limits: defaultLimits,
  forwardedPolicy: 'append',
  proxyProtocol: {},
  counters,
  quotas,
  tracing: new Tracing(),
  fault: throwFault,
  accessLog: undefined,
  connectionLog: undefined,
  layer4: new Layer4Routes(),
  ownConnections: new OwnConnections(0),
  ownFlows: new OwnConnections(0),
};

const fronts: Front[] = [];
afterEach(() => Promise.all(fronts.splice(0).map((front) => front.drain(0))));

test('connections that come in before the configuration wait for it', async () => {
  const front = new Front(plane);
  fronts.push(front);
  await front.listen({ host: '127.0.0.1', port: 0 });
  const accepted = plane.counters.connections;
  const answer = sendRaw(front.address?.port ?? 0, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  while (plane.counters.connections === accepted) await new Promise(setImmediate);
  const { requests } = plane.counters;
  // A request would be answered within these turns if it were looked at.
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  expect(plane.counters.requests).toBe(requests);
  front.configure([web], new Identities(() => undefined));
  expect(await answer).toMatch(/^HTTP\/1\.1 404 /);
  expect(plane.counters.requests).toBe(requests + 1);
});
