import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { acceptedInTurn, isAccepting } from '../../../src/time/accepting.ts';
import { carrierOf } from '../../../src/handshakes/carrier.ts';
import { CertificateFlights } from '../../../src/handshakes/certificate-flights.ts';
import { FirstFlights } from '../../../src/handshakes/first-flights.ts';
import { LaterFlights } from '../../../src/handshakes/later-flights.ts';
import { eventually } from '../../support/eventually.ts';

/** A connection that only knows whether it is read. */
class Connection extends EventEmitter {
  readonly remoteAddress: string;
  readonly remotePort: number;
  destroyed = false;
  isRead = true;
  bytesWritten: number;
  readonly _handle = {
    readStart: () => void (this.isRead = true),
    readStop: () => void (this.isRead = false),
  };

  constructor(remotePort: number, { remoteAddress = '192.0.2.1', bytesWritten = 99 } = {}) {
    super();
    this.bytesWritten = bytesWritten;
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

const connections = (count: number, properties?: { remoteAddress?: string; bytesWritten?: number }): Connection[] =>
  Array.from({ length: count }, (_, port) => new Connection(port + 1, properties));
const readOf = (all: readonly Connection[]): number => all.filter(({ isRead }) => isRead).length;

const client = '192.0.2.1';

describe('first flights', () => {
  test('are processed a few in each turn of the event loop', async () => {
    const first = new FirstFlights();
    const processed: number[] = [];
    for (const { socket } of connections(10))
      first.take({ socket, client, process: () => processed.push(socket.remotePort ?? 0) });
    expect(processed).toEqual([]);
    await nextTurn();
    expect(processed.length).toBeLessThan(10);
    await eventually(() => expect(processed).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
  });

  test('of another client do not wait for all of the first one', async () => {
    const first = new FirstFlights();
    const processed: string[] = [];
    for (const { socket } of [...connections(100), ...connections(1, { remoteAddress: '192.0.2.2' })])
      first.take({
        socket,
        client: socket.remoteAddress ?? '',
        process: () => processed.push(socket.remoteAddress ?? ''),
      });
    await eventually(() => expect(processed).toHaveLength(101));
    expect(processed.indexOf('192.0.2.2')).toBe(1);
  });

  test('of connections that close while they wait are not processed', async () => {
    const first = new FirstFlights();
    const processed: number[] = [];
    const all = connections(12);
    for (const { socket } of all) first.take({ socket, client, process: () => processed.push(socket.remotePort ?? 0) });
    for (const connection of all.slice(0, 11)) connection.destroy();
    await eventually(() => expect(processed).toEqual([12]));
  });
});

describe('a burst of new connections', () => {
  test('is over after a turn without one', async () => {
    expect(isAccepting()).toBe(false);
    for (let count = 0; count < 3; count += 1) {
      acceptedInTurn();
      await nextTurn();
      expect(isAccepting()).toBe(true);
    }
    await nextTurn();
    expect(isAccepting()).toBe(false);
  });

  test('is accepted before most flights are processed, so that clients take turns', async () => {
    const burst = { isOver: false };
    const first = new FirstFlights(undefined, () => !burst.isOver);
    let processed = 0;
    for (const { socket } of connections(100)) first.take({ socket, client, process: () => (processed += 1) });
    for (let count = 0; count < 128; count += 1) await nextTurn();
    expect(processed).toBeGreaterThanOrEqual(3);
    expect(processed).toBeLessThanOrEqual(16);
    burst.isOver = true;
    await eventually(() => expect(processed).toBe(100));
  });
});

describe('expensive flights', () => {
  test('make a turn short', async () => {
    let [time, processed] = [0, 0];
    const first = new FirstFlights(() => time);
    const process = (): void => {
      processed += 1;
      time += 5;
    };
    for (const { socket } of connections(10)) first.take({ socket, client, process });
    for (let turns = 1; turns < 12; turns += 1) {
      await nextTurn();
      expect(processed).toBe(turns - 1);
    }
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
    for (const { socket } of all.slice(0, 14)) later.done(socket);
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

  test('whose handshake needs one more are read as they come', async () => {
    const later = new LaterFlights();
    const all = connections(30, { bytesWritten: 129 });
    for (const { socket } of all) later.add(socket);
    await nextTurn();
    expect(readOf(all)).toBe(30);
  });

  test('wait for the next turns when many handshakes were completed in this one', async () => {
    const later = new LaterFlights();
    const all = connections(40, { bytesWritten: 129 });
    for (const { socket } of all.slice(0, 38)) later.add(socket);
    for (const { socket } of all.slice(0, 7)) later.done(socket);
    expect(readOf(all.slice(7))).toBe(33);
    for (const { socket } of all.slice(7, 8)) later.done(socket);
    // Those that are answered in the same turn wait, too; a few are read.
    for (const { socket } of all.slice(38)) later.add(socket);
    expect(readOf(all.slice(8, 38))).toBe(0);
    for (const { socket } of all.slice(8)) {
      await eventually(() => expect((socket as unknown as Connection).isRead).toBe(true));
      later.done(socket);
    }
  });
});

describe('the carrier of a TLS socket', () => {
  const all = connections(3);
  const sockets = new Set(all.map(({ socket }) => socket));
  const [, second] = [...sockets];

  test('is the socket below it, or the socket itself', () => {
    expect(carrierOf({ _parent: second } as unknown as Socket, sockets)).toBe(second);
    expect(carrierOf(second as Socket, sockets)).toBe(second);
    expect(carrierOf({ _parent: new Connection(2).socket } as unknown as Socket, sockets)).toBeUndefined();
  });

  test('is the one with the same peer if Node does not tell', () => {
    expect(carrierOf(new Connection(2).socket, sockets)).toBe(second);
    expect(carrierOf(new Connection(4).socket, sockets)).toBeUndefined();
  });
});

describe('flights with client certificates', () => {
  /** Time that passes only as the test says. */
  function begin() {
    const time = { now: 0, work: 0 };
    const flights = new CertificateFlights({ now: () => time.now, work: () => time.work });
    return { time, flights };
  }

  /** A handshake of this client that takes long. */
  async function takeLong({ time, flights }: ReturnType<typeof begin>, address: string): Promise<void> {
    const [first = new Connection(1)] = connections(1);
    flights.add(first.socket, address);
    await eventually(() => expect(first.isRead).toBe(true));
    time.work = 60;
    await eventually(() => expect(first.isRead).toBe(false));
    flights.done(first.socket);
  }

  test('are read one by one, each connection again and again', async () => {
    const { flights } = begin();
    const all = connections(12);
    for (const { socket } of all) flights.add(socket, client);
    const turnsOf = new Map<Connection, number>();
    await eventually(() => {
      const read = all.filter(({ isRead }) => isRead);
      expect(read.length).toBeLessThanOrEqual(1);
      for (const connection of read) turnsOf.set(connection, (turnsOf.get(connection) ?? 0) + 1);
      expect([...turnsOf.values()].filter((turns) => turns > 1)).toHaveLength(12);
    });
    for (const { socket } of all) flights.done(socket);
    expect(readOf(all)).toBe(12);
  });

  test('are reported after each of their turns', async () => {
    const read: Socket[] = [];
    const flights = new CertificateFlights({ now: () => 0, work: () => 0 }, (socket) => read.push(socket));
    const [{ socket } = new Connection(1)] = connections(1);
    flights.add(socket, client);
    expect(read).toEqual([socket]);
    await eventually(() => expect(read.length).toBeGreaterThan(1));
    flights.done(socket);
  });

  test('wait after one that took long', async () => {
    const { time, flights } = begin();
    const all = connections(3);
    for (const { socket } of all) flights.add(socket, `192.0.2.${socket.remotePort}`);
    await eventually(() => expect(readOf(all)).toBe(1));
    time.work = 1_000;
    await eventually(() => expect(readOf(all)).toBe(0));
    for (let turns = 0; turns < 5; turns += 1) {
      await nextTurn();
      expect(readOf(all)).toBe(0);
    }
    await eventually(() => expect(readOf(all)).toBe(1));
    for (const { socket } of all) flights.done(socket);
  });

  test('of a client that took long wait, also if they began before', async () => {
    const { time, flights } = begin();
    const all = connections(3);
    for (const { socket } of all) flights.add(socket, '192.0.2.1');
    await eventually(() => expect(readOf(all)).toBe(1));
    time.work = 60;
    await eventually(() => expect(readOf(all)).toBe(0));
    const other = new Connection(4);
    flights.add(other.socket, '192.0.2.2');
    await eventually(() => expect(other.isRead).toBe(true));
    expect(readOf(all)).toBe(0);
    flights.done(other.socket);
    for (let turns = 0; turns < 5; turns += 1) {
      await nextTurn();
      expect(readOf(all)).toBe(0);
    }
    time.now = 1_000;
    await eventually(() => expect(readOf(all)).toBe(1));
    for (const { socket } of all) flights.done(socket);
  });

  test('of a client that took long come after those of others, and after a pause', async () => {
    const { time, flights } = begin();
    await takeLong({ time, flights }, '192.0.2.1');
    const again = new Connection(2);
    const other = new Connection(3);
    flights.add(again.socket, '192.0.2.1');
    flights.add(other.socket, '192.0.2.2');
    await eventually(() => expect(other.isRead).toBe(true));
    expect(again.isRead).toBe(false);
    flights.done(other.socket);
    for (let turns = 0; turns < 5; turns += 1) {
      await nextTurn();
      expect(again.isRead).toBe(false);
    }
    time.now = 1_000;
    await eventually(() => expect(again.isRead).toBe(true));
    flights.done(again.socket);
  });

  test('of a client that took long are read although a connection of another client is silent', async () => {
    const { time, flights } = begin();
    await takeLong({ time, flights }, '192.0.2.1');
    const again = new Connection(2);
    const silent = new Connection(3);
    flights.add(silent.socket, '192.0.2.2');
    flights.add(again.socket, '192.0.2.1');
    time.now = 1_000;
    await eventually(() => expect(again.isRead).toBe(true));
    flights.done(again.socket);
    flights.done(silent.socket);
  });

  test('of a connection that closes leave the turn to the next one', async () => {
    const { flights } = begin();
    const [first = new Connection(1), second = new Connection(2)] = connections(2);
    for (const { socket } of [first, second]) flights.add(socket, client);
    flights.done(first.socket);
    await eventually(() => expect(second.isRead).toBe(true));
    flights.done(second.socket);
  });
});
