import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { ByClient } from '../../../../src/proxy/limits/by-client.ts';

test('the oldest connection of the client with most of them', () => {
  const connections = new ByClient(2_000);
  const open: { readonly socket: Socket; readonly client: string }[] = [];
  const countOf = (client: string): number => open.filter((other) => other.client === client).length;
  // Pseudorandom, always the same.
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let step = 0; step < 2_000; step += 1) {
    if (open.length === 0 || random(5) > 1) {
      const added = { socket: new Socket(), client: `192.0.2.${random(5)}` };
      open.push(added);
      connections.add(added.socket, added.client);
    } else {
      const [removed] = open.splice(random(open.length), 1);
      if (removed !== undefined) connections.delete(removed.socket, removed.client);
    }
    const most = Math.max(...open.map(({ client }) => countOf(client)));
    const busiest = open.filter(({ client }) => countOf(client) === most);
    const oldest = busiest.filter(
      ({ client }, position) => busiest.findIndex((other) => other.client === client) === position,
    );
    const found = connections.oldestOfBusiest;
    if (open.length === 0) expect(found).toBeUndefined();
    else expect(oldest.map(({ socket }) => socket)).toContain(found);
  }
});

test('of clients with as many connections, the one that has had them for longest', () => {
  const connections = new ByClient(2_000);
  const [first, second] = [new Socket(), new Socket()];
  connections.add(first, '192.0.2.1');
  connections.add(second, '192.0.2.2');
  expect(connections.oldestOfBusiest).toBe(first);
  connections.delete(first, '192.0.2.1');
  expect(connections.oldestOfBusiest).toBe(second);
});
