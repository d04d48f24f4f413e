import { createSocket } from 'node:dgram';
import { afterEach, expect, test } from '@jest/globals';
import type { EndpointsConfig } from '../../../../src/core/routing/config.ts';
import { closeBackends, startRawBackend } from '../../../support/backends.ts';
import { endpointsConfig } from '../../../support/config.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  backendTo,
  dial,
  endOf,
  hostOf,
  layer4Route,
  startLayer4,
  tcp,
  tcpRoute,
  udp,
} from '../../../support/layer4.ts';
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
  const back = layer4Route('TCPRoute', other, {
    key: 'route/TCPRoute/shop/back',
    route: 'shop/back',
    backends: [backendTo('back')],
  });
  const started = await startLayer4([tcp, other, tcpRoute('app'), back]);
  await started.apply(endpointsAt(hostOf(4), started.portOf(other)), {
    ...endpointsConfig('back'),
    addresses: [{ host: hostOf(2), port: started.portOf(tcp) }],
  });
  const client = dial(started);
  client.write('x');
  expect((await endOf(client)).received).toBe('');
  await eventually(() => expect(started.proxy.counters().layer4.open.tcp).toBe(0));
  expect(started.proxy.counters().layer4.started.tcp).toBeLessThan(16);
});

test('a chain of listeners of one data plane is no loop', async () => {
  const other = { ...tcp, key: 'listener/infra/gateway/other', name: 'other', port: 4 };
  const on = layer4Route('TCPRoute', other, {
    key: 'route/TCPRoute/shop/on',
    route: 'shop/on',
    backends: [backendTo('on')],
  });
  const started = await startLayer4([tcp, other, tcpRoute('app'), on]);
  const backend = await startRawBackend((socket) => socket.end('served'));
  await started.apply(endpointsAt(hostOf(4), started.portOf(other)), endpointsConfig('on', backend.port));
  expect((await endOf(dial(started))).received).toBe('served');
});

/** Sends one datagram to a port of loopback. */
async function sendTo(host: string, port: number): Promise<void> {
  const socket = createSocket('udp4');
  await new Promise((sent) => {
    socket.send('x', port, host, sent);
  });
  socket.close();
}

test('a datagram to a UDPRoute that leads to its own listener is dropped', async () => {
  const started = await startLayer4([udp, layer4Route('UDPRoute', udp)]);
  await started.apply(endpointsAt(hostOf(2), started.portOf(udp)));
  for (let round = 1; round <= 3; round += 1) {
    await sendTo(hostOf(2), started.portOf(udp));
    await eventually(() =>
      expect(started.connections.map(({ reason }) => reason)).toEqual(
        Array.from({ length: round }, () => 'loop-detected'),
      ),
    );
  }
  const { layer4 } = started.proxy.counters();
  expect(layer4.droppedDatagrams).toBe(3);
  // Eight passes of each datagram are allowed.
  expect(layer4.started.udp).toBe(27);
});

test('datagrams whose flows make room for each other loop no longer than others', async () => {
  const started = await startLayer4([udp, layer4Route('UDPRoute', udp)], { limits: { udpFlowsPerClient: 4 } });
  await started.apply(endpointsAt(hostOf(2), started.portOf(udp)));
  for (let count = 0; count < 20; count += 1) await sendTo(hostOf(2), started.portOf(udp));
  await eventually(() => expect(started.proxy.counters().layer4.droppedDatagrams).toBe(20));
});

test('a chain of UDP listeners of one data plane is no loop', async () => {
  const other = { ...udp, key: 'listener/infra/gateway/other', name: 'other', port: 4 };
  const on = layer4Route('UDPRoute', other, {
    key: 'route/UDPRoute/shop/on',
    route: 'shop/on',
    backends: [backendTo('on')],
  });
  const started = await startLayer4([udp, other, layer4Route('UDPRoute', udp), on]);
  const backend = createSocket('udp4');
  const received: string[] = [];
  backend.on('message', (message) => received.push(message.toString()));
  await new Promise<void>((bound) => void backend.bind(0, '127.0.0.1', bound));
  await started.apply(endpointsAt(hostOf(4), started.portOf(other)), endpointsConfig('on', backend.address().port));
  for (let count = 0; count < 20; count += 1) await sendTo(hostOf(2), started.portOf(udp));
  await eventually(() => expect(received).toHaveLength(20));
  backend.close();
});
