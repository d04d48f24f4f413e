import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { FirstFlights } from '../../../src/handshakes/first-flights.ts';
import { LaterFlights } from '../../../src/handshakes/later-flights.ts';
import { eventually } from '../../support/eventually.ts';

/** A connection that only knows whether it is read. */
class Connection extends EventEmitter {
  readonly remoteAddress: string;
  readonly remotePort: number;
  destroyed = false;
  isRead = true;
  readonly _handle = {
    readStart: () => void (this.isRead = true),
    readStop: () => void (this.isRead = false),
  };

  constructor(remotePort: number, remoteAddress = '192.0.2.1') {
    super();
    this.remotePort = remotePort;
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  get socket(): Socket {
    return this as unknown as Socket;
  }
}

const connections = (count: number, address?: string): Connection[] =>
  Array.from({ length: count }, (_, port) => new Connection(port + 1, address));
const readOf = (all: readonly Connection[]): number => all.filter(({ isRead }) => isRead).length;

describe('first flights', () => {
  test('are processed a few in each turn of the event loop', async () => {
    const first = new FirstFlights();
    const processed: number[] = [];
    for (const { socket } of connections(10)) first.take(socket, () => processed.push(socket.remotePort ?? 0));
    expect(processed).toEqual([]);
    await nextTurn();
    expect(processed.length).toBeLessThan(10);
    await eventually(() => expect(processed).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
  });

  test('of another client do not wait for all of the first one', async () => {
    const first = new FirstFlights();
    const processed: string[] = [];
    for (const { socket } of [...connections(100), ...connections(1, '192.0.2.2')])
      first.take(socket, () => processed.push(socket.remoteAddress ?? ''));
    await eventually(() => expect(processed).toHaveLength(101));
    expect(processed.indexOf('192.0.2.2')).toBe(1);
  });

  test('of connections that close while they wait are not processed', async () => {
    const first = new FirstFlights();
    const processed: number[] = [];
    const all = connections(12);
    for (const { socket } of all) first.take(socket, () => processed.push(socket.remotePort ?? 0));
    for (const connection of all.slice(0, 11)) connection.destroy();
    await eventually(() => expect(processed).toEqual([12]));
  });
});

describe('later flights', () => {
  test('of few connections are read as they come', async () => {
    const later = new LaterFlights();
    const all = connections(8);
    for (const { socket } of all) later.add(socket);
    await nextTurn();
    expect(readOf(all)).toBe(8);
  });

  test('of many connections are read in turns, each of them again and again', async () => {
    const later = new LaterFlights();
    const all = connections(30);
    for (const { socket } of all) later.add(socket);
    const turnsOf = new Map<Connection, number>();
    await eventually(() => {
      const read = all.filter(({ isRead }) => isRead);
      expect(read.length).toBeLessThanOrEqual(8);
      for (const connection of read) turnsOf.set(connection, (turnsOf.get(connection) ?? 0) + 1);
      expect([...turnsOf.values()].filter((turns) => turns > 1)).toHaveLength(30);
    });
    for (const connection of all) connection.destroy();
  });

  test('are read without turns when few connections are left', async () => {
    const later = new LaterFlights();
    const all = connections(20);
    for (const { socket } of all) later.add(socket);
    for (const connection of all.slice(0, 6)) connection.destroy();
    for (const { socket } of all.slice(6, 14)) later.done(socket);
    await eventually(() => expect(readOf(all.slice(14))).toBe(6));
  });

  test('of a connection whose handshake is complete are always read', () => {
    const later = new LaterFlights();
    const all = connections(20);
    for (const { socket } of all) later.add(socket);
    const last = all.at(-1);
    expect(last?.isRead).toBe(false);
    if (last !== undefined) later.done(last.socket);
    expect(last?.isRead).toBe(true);
    for (const connection of all) connection.destroy();
  });
});
