import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { FormerContexts } from '../../../../src/proxy/listen/former-contexts.ts';
import { eventually } from '../../../support/eventually.ts';

const kibibyte = 1024;

class Connection extends EventEmitter {
  isClosed = false;

  destroy(): void {
    this.isClosed = true;
    this.emit('close');
  }
}

/** The contexts of connections, with room for about five former ones of 100 CA certificates each. */
function start() {
  let reached = 0;
  const contexts = new FormerContexts(3_600 * kibibyte, () => (reached += 1));
  return {
    contexts,
    reached: () => reached,
    /** A connection whose context is replaced `after` it was accepted. */
    connect: (context: object, authorities = 100): Connection => {
      const connection = new Connection();
      contexts.hold(connection as unknown as Socket, [{ context, authorities }]);
      return connection;
    },
  };
}

test('connections of the contexts that were replaced first are closed beyond the limit', async () => {
  const { contexts, connect, reached } = start();
  const connections = Array.from({ length: 8 }, () => {
    const context = {};
    const pair = [connect(context), connect(context)];
    contexts.replaced(context);
    return pair;
  });
  await eventually(() =>
    expect(connections.map((pair) => pair.map(({ isClosed }) => isClosed))).toEqual([
      ...[1, 2, 3].map(() => [true, true]),
      ...[4, 5, 6, 7, 8].map(() => [false, false]),
    ]),
  );
  expect(reached()).toBe(3);
});

test('contexts that are not replaced have no limit', async () => {
  const { contexts, connect, reached } = start();
  const connections = Array.from({ length: 50 }, () => connect({}));
  const former = {};
  const last = connect(former);
  contexts.replaced(former);
  await new Promise(setImmediate);
  expect([...connections, last].some(({ isClosed }) => isClosed)).toBe(false);
  expect(reached()).toBe(0);
});

test('contexts whose connections are closed do not count', async () => {
  const { contexts, connect, reached } = start();
  for (let index = 0; index < 50; index += 1) {
    const context = {};
    const connection = connect(context);
    if (index % 2 === 0) connection.destroy();
    contexts.replaced(context);
    contexts.replaced(context);
    connection.destroy();
  }
  await new Promise(setImmediate);
  expect(reached()).toBe(0);
});

test('a context without CA certificates counts, too', async () => {
  const { contexts, connect, reached } = start();
  for (let index = 0; index < 100; index += 1) {
    const context = {};
    connect(context, 0);
    contexts.replaced(context);
  }
  await eventually(() => expect(reached()).toBe(100 - Math.floor(3_600 / 44)));
});
