import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { weigh } from '../../../../src/proxy/limits/context-memory.ts';
import { FormerContexts } from '../../../../src/proxy/limits/former-contexts.ts';
import { eventually } from '../../../support/eventually.ts';

const kibibyte = 1024;

class Connection extends EventEmitter {
  closed = false;

  destroy(): void {
    this.closed = true;
    this.emit('close');
  }
}

/** A context with this number of CA certificates. */
function contextOf(authorities = 100): object {
  const context = {};
  weigh(context, authorities);
  return context;
}

/** The contexts of connections, with room for about five former ones of 100 CA certificates each. */
function start() {
  let reached = 0;
  const contexts = new FormerContexts(3_600 * kibibyte, () => (reached += 1));
  return {
    contexts,
    reached: () => reached,
    connect: (context: object, user?: object): Connection => {
      const connection = new Connection();
      contexts.hold(connection as unknown as Socket, context, user);
      return connection;
    },
  };
}

test('connections of the contexts that were replaced first are closed beyond the limit', async () => {
  const { contexts, connect, reached } = start();
  const connections = Array.from({ length: 8 }, () => {
    const context = contextOf();
    const pair = [connect(context), connect(context)];
    contexts.leave(context);
    return pair;
  });
  await eventually(() =>
    expect(connections.map((pair) => pair.map(({ closed }) => closed))).toEqual([
      ...[1, 2, 3].map(() => [true, true]),
      ...[4, 5, 6, 7, 8].map(() => [false, false]),
    ]),
  );
  expect(reached()).toBe(3);
});

test('contexts that are not replaced have no limit', async () => {
  const { contexts, connect, reached } = start();
  const connections = Array.from({ length: 50 }, () => connect(contextOf()));
  const former = contextOf();
  const last = connect(former);
  contexts.leave(former);
  await new Promise(setImmediate);
  expect([...connections, last].some(({ closed }) => closed)).toBe(false);
  expect(reached()).toBe(0);
});

test('contexts whose connections are closed do not count', async () => {
  const { contexts, connect, reached } = start();
  for (let index = 0; index < 50; index += 1) {
    const context = contextOf();
    const connection = connect(context);
    if (index % 2 === 0) connection.destroy();
    contexts.leave(context);
    contexts.leave(context);
    connection.destroy();
  }
  await new Promise(setImmediate);
  expect(reached()).toBe(0);
});

test('a context without CA certificates counts, too', async () => {
  const { contexts, connect, reached } = start();
  for (let index = 0; index < 100; index += 1) {
    const context = {};
    connect(context);
    contexts.leave(context);
  }
  await eventually(() => expect(reached()).toBe(100 - Math.floor(3_600 / 44)));
});

test('a context that several backends use counts after the last one has left, and no longer if one comes back', () => {
  const { contexts, connect, reached } = start();
  const context = contextOf(1_000);
  const users = [{}, {}, {}];
  const connections = users.map((user) => connect(context, user));
  for (const user of users.slice(1)) contexts.leave(user);
  expect(reached()).toBe(0);
  contexts.leave(users[0] ?? {});
  expect(reached()).toBe(1);
  for (const connection of connections) connection.destroy();

  const small = contextOf();
  const [first, second] = [{}, {}];
  connect(small, first);
  contexts.leave(first);
  connect(small, second);
  const others = Array.from({ length: 5 }, () => contextOf());
  for (const other of others) {
    connect(other);
    contexts.leave(other);
  }
  expect(reached()).toBe(1);
  contexts.leave(second);
  expect(reached()).toBe(2);
});

test('a connection that comes after its backend has left counts', () => {
  const { contexts, connect, reached } = start();
  const user = {};
  contexts.leave(user);
  connect(contextOf(1_000), user);
  expect(reached()).toBe(1);
});

test('a connection that is closed already does not count', () => {
  const { contexts, reached } = start();
  const context = contextOf(1_000);
  contexts.hold(Object.assign(new Connection(), { closed: true }) as unknown as Socket, context);
  contexts.leave(context);
  expect(reached()).toBe(0);
});
