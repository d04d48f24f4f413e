import { afterEach, expect, test } from '@jest/globals';
import { formatAccessLogEntry } from '../../../src/proxy/handling/access-log.ts';
import { createCounters } from '../../../src/proxy/counters.ts';
import { closeBackends, startEcho, startHttp2Backend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeHttp2, openHttp2, request } from '../../support/http2.ts';
import { closeProxies, routeTo, send, startProxy, startProxyTo, web } from '../../support/proxy.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const grpcCall = { ':method': 'POST', 'content-type': 'application/grpc' };

test('an entry names the way of a request and leaves its query out', async () => {
  const backend = await startEcho();
  const { port, log } = await startProxyTo(backend.port);
  const answer = await send(port, '/a%22b?secret=1', {
    method: 'POST',
    body: 'x',
    headers: { host: 'Shop.example:80' },
  });
  expect(log).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      client: '127.0.0.1',
      method: 'POST',
      host: 'shop.example',
      path: '/a%22b',
      status: 200,
      bytes: Buffer.byteLength(answer.body),
      durationMs: expect.any(Number),
      listener: web.key,
      route: 'HTTPRoute/shop/web',
      rule: 0,
      backend: 'shop/app/80',
      upstream: `127.0.0.1:${backend.port}`,
    },
  ]);
});

test('an entry tells routes of two kinds apart that share their name', async () => {
  const route = routeTo('none');
  const { port, log } = await startProxy([route, { ...route, key: 'route/GRPCRoute/shop/web', protocol: 'grpc' }]);
  await send(port, '/');
  await request(openHttp2(port), grpcCall, 'x');
  await eventually(() => expect(log.map(({ route }) => route)).toEqual(['HTTPRoute/shop/web', 'GRPCRoute/shop/web']));
});

test('a line is one line, whatever a request holds', () => {
  const line = formatAccessLogEntry({
    time: '',
    client: '',
    method: '',
    host: 'a"b\r\nevil',
    path: '/\u2028\u0000',
    status: 200,
    bytes: 0,
    durationMs: 0,
  });
  expect(line.slice(0, -1)).not.toMatch(/[\r\n\0]/);
  expect(line.endsWith('\n')).toBe(true);
  expect(JSON.parse(line)).toMatchObject({ host: 'a"b\r\nevil' });
});

test('counters add up, and their names depend on no traffic', async () => {
  const { port, proxy, apply } = await startProxy([endpointsConfig('app', (await startEcho()).port), routeTo('app')]);
  const { body } = await send(port, '/', { method: 'POST', body: 'four' });
  await send(port, '/', { headers: { host: 'bad/host' } });
  await apply(endpointsConfig('app'));
  const { body: refusal } = await send(port, '/');
  const counters = proxy.counters();
  expect(counters).toMatchObject({
    connections: 3,
    requests: 3,
    openRequests: 0,
    responses: { '1xx': 0, '2xx': 1, '3xx': 0, '4xx': 1, '5xx': 1 },
    reasons: { 'bad-host': 1, 'no-endpoints': 1, 'no-route': 0 },
    requestBytes: 4,
    upstreamAttempts: 1,
    upstreamConnectFailures: 0,
  });
  expect(counters.responseBytes).toBeGreaterThanOrEqual(body.length + refusal.length);
  expect(counters.durations.reduce((sum, count) => sum + count)).toBe(3);
  expect(Object.keys(counters.reasons)).toEqual(Object.keys(createCounters().reasons));
});

test('calls are counted by what they ended with, whoever said so; their names depend on no traffic', async () => {
  const statuses = ['0', '5', '5', '4711'];
  const backend = await startHttp2Backend((stream) => {
    const status = statuses.shift();
    if (status === undefined) stream.close(2);
    else stream.respond({ ':status': 200, 'grpc-status': status }, { endStream: true });
  });
  const { port, proxy } = await startProxy([endpointsConfig('app', backend.port), routeTo('app')]);
  const session = openHttp2(port);
  for (let count = 0; count < 5; count += 1) await request(session, grpcCall, 'x');
  await eventually(() => expect(proxy.counters().openRequests).toBe(0));
  expect(proxy.counters()).toMatchObject({
    responses: { '2xx': 5 },
    grpcStatuses: { '0': 1, '2': 1, '5': 2, '14': 1, none: 0 },
  });
  expect(Object.keys(proxy.counters().grpcStatuses)).toEqual(Object.keys(createCounters().grpcStatuses));
});

test('calls that end without a status are counted as such', async () => {
  const backend = await startHttp2Backend((stream) => stream.respond({ ':status': 404 }, { endStream: true }));
  const { port, proxy, log } = await startProxy([endpointsConfig('app', backend.port), routeTo('app')]);
  await request(openHttp2(port), grpcCall, 'x');
  await eventually(() => expect(log).toEqual([expect.objectContaining({ status: 404 })]));
  expect(log[0]).not.toHaveProperty('grpcStatus');
  expect(proxy.counters().grpcStatuses.none).toBe(1);
});

test('what is no call has no grpc-status, whatever its answer says', async () => {
  const backend = await startHttp2Backend((stream) =>
    stream.respond({ ':status': 200, 'grpc-status': '5' }, { endStream: true }),
  );
  const { port, proxy, log } = await startProxy([
    { ...endpointsConfig('app', backend.port), protocol: 'h2c' },
    routeTo('app'),
  ]);
  await send(port, '/');
  expect(log[0]).not.toHaveProperty('grpcStatus');
  expect(Object.values(proxy.counters().grpcStatuses).every((count) => count === 0)).toBe(true);
});
