import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { channelContract } from '../../contract/channel.ts';
import type { ChannelConnection } from '../../../src/channel/index.ts';
import { ConfigurationSource } from '../../../src/channel/index.ts';
import { connectTo, startChannel, type TestChannel } from '../../support/channel.ts';

const sources = new Map<string, ConfigurationSource>();
const connections: ChannelConnection[] = [];
let channel: TestChannel;

beforeAll(async () => {
  channel = await startChannel((gateway) => sources.get(gateway));
});

afterEach(async () => {
  await Promise.all(connections.splice(0).map((connection) => connection.close()));
});

afterAll(() => channel.server.close());

channelContract('HTTP/2 and TLS', (source, sink) => {
  const gateway = `shop/gateway-${sources.size}`;
  sources.set(gateway, source);
  const connection = connectTo(channel, { gateway, sink });
  connections.push(connection);
  return { close: () => void connection.close() };
});
