import { afterEach, expect, test } from '@jest/globals';
import { ConfigurationSink } from '../../../src/channel/sink.ts';
import { ConfigurationSource } from '../../../src/channel/source.ts';
import type { RouteConfig, RouteRule } from '../../../src/core/routing/config.ts';
import { authorizedBy } from '../../support/authorization.ts';
import { closeBackends, startEcho } from '../../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeProxies, prefixRule, send, startProxy, webRoute } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const open = listenerConfig('shop', { hostname: 'shop.example.com' });
const guarded = { ...open, filters: [authorizedBy('auth')] };

/** A proxy that announces no capabilities, as those of older builds, and the source of its configuration. */
async function startOld() {
  const app = await startEcho('app');
  const { proxy, port } = await startProxy([]);
  const source = new ConfigurationSource();
  const sink = new ConfigurationSink(({ upserts, removals }) => proxy.apply({ upserts, removals }));
  const toController = source.connect('old', (message) => void toProxy.receive(message));
  const toProxy = sink.connect((message) => {
    void toController.receive(message.type === 'hello' ? { type: 'hello', digests: message.digests } : message);
  });
  await sink.synchronised;
  source.publish([endpointsConfig('app', app.port)], []);
  const statusOf = async (path = '/', host = 'shop.example.com') =>
    (await send(port, path, { headers: { host } })).status;
  return { source, statusOf };
}

function routeOf(listener: string, ...rules: readonly RouteRule[]): RouteConfig {
  const route = webRoute(...rules);
  return { ...route, key: `route/${listener}`, attachments: [{ listener, hostnames: [''] }] };
}

test('the filters of a listener come and go: an old data plane never serves its routes without them', async () => {
  const { source, statusOf } = await startOld();
  const everywhere = routeOf('listener/infra/gateway/web', prefixRule('/', []));
  source.publish([open, routeOf(open.key, prefixRule('/', [])), everywhere], []);
  await eventually(async () => expect(await statusOf()).toBe(200));
  source.publish([guarded], []);
  await eventually(async () => expect(await statusOf()).toBe(404));
  // The hostname stays with the listener. Other hosts are served as before.
  expect(await statusOf('/', 'other.example.com')).toBe(200);
  source.publish([open], []);
  await eventually(async () => expect(await statusOf()).toBe(200));
});

test('an old data plane rejects the requests of a rule with ExternalAuth, and serves the others', async () => {
  const { source, statusOf } = await startOld();
  source.publish(
    [open, routeOf(open.key, prefixRule('/admin', [authorizedBy('auth')]), prefixRule('/', [], { index: 1 }))],
    [],
  );
  await eventually(async () => expect(await statusOf()).toBe(200));
  expect(await statusOf('/admin')).toBe(500);
});
