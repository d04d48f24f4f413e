import { afterEach, expect, test } from '@jest/globals';
import type { EndpointsConfig } from '../../../../src/core/routing/config.ts';
import { closeBackends, startRawBackend } from '../../../support/backends.ts';
import { endpointsConfig } from '../../../support/config.ts';
import { eventually } from '../../../support/eventually.ts';
import { backendTo, dial, endOf, hostOf, layer4Route, startLayer4, tcp, tcpRoute } from '../../../support/layer4.ts';
import { closeProxies } from '../../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

function endpointsAt(host: string, port: number): EndpointsConfig {
  return { ...endpointsConfig('app'), addresses: [{ host, port }] };
}

test('a TCPRoute that leads to its own listener resets the connection', async () => {
  const started = await startLayer4([tcp, tcpRoute('app')]);
  await started.apply(endpointsAt(hostOf(2), started.portOf(tcp)));
  const client = dial(started);
  client.write('x');
  expect((await endOf(client)).received).toBe('');
  await eventually(() => expect(started.proxy.counters().layer4.open.tcp).toBe(0));
  // Eight passes are allowed. A few more connections can be open before the ninth is found.
  expect(started.proxy.counters().layer4.started.tcp).toBeGreaterThan(8);
  expect(started.proxy.counters().layer4.started.tcp).toBeLessThan(16);
  await eventually(() => expect(started.connections.map(({ reason }) => reason)).toContain('loop-detected'));
});

test('a loop through two listeners is found, too', async () => {
  const other = { ...tcp, key: 'listener/infra/gateway/other', name: 'other', port: 4 };
  const back = layer4Route('TCPRoute', other, { key: 'route/TCPRoute/shop/back', route: 'shop/back', backends: [backendTo('back')] });
  const started = await startLayer4([tcp, other, tcpRoute('app'), back]);
  await started.apply(endpointsAt(hostOf(4), started.portOf(other)), { ...endpointsConfig('back'), addresses: [{ host: hostOf(2), port: started.portOf(tcp) }] });
  const client = dial(started);
  client.write('x');
  expect((await endOf(client)).received).toBe('');
  await eventually(() => expect(started.proxy.counters().layer4.open.tcp).toBe(0));
  expect(started.proxy.counters().layer4.started.tcp).toBeLessThan(16);
});

test('a chain of listeners of one data plane is no loop', async () => {
  const other = { ...tcp, key: 'listener/infra/gateway/other', name: 'other', port: 4 };
  const on = layer4Route('TCPRoute', other, { key: 'route/TCPRoute/shop/on', route: 'shop/on', backends: [backendTo('on')] });
  const started = await startLayer4([tcp, other, tcpRoute('app'), on]);
  const backend = await startRawBackend((socket) => socket.end('served'));
  await started.apply(endpointsAt(hostOf(4), started.portOf(other)), endpointsConfig('on', backend.port));
  expect((await endOf(dial(started))).received).toBe('served');
});
