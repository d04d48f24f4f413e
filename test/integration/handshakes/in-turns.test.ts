import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { beginHandshakesInTurns } from '../../../src/handshakes/in-turns.ts';
import { eventually } from '../../support/eventually.ts';

/** A record of a handshake with one byte. */
const record = Buffer.from([22, 3, 1, 0, 1, 1]);

let server: Server;
let begun: Socket[];
let clients: Socket[];
let onBegin: (socket: Socket) => void;

beforeEach(async () => {
  [begun, clients] = [[], []];
  onBegin = () => undefined;
  server = createServer((socket) => {
    begun.push(socket);
    onBegin(socket);
  });
  beginHandshakesInTurns(server, 60_000);
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterEach(() => {
  for (const client of clients) client.destroy();
  for (const socket of begun) socket.destroy();
  server.close();
});

async function connectMany(count: number): Promise<readonly Socket[]> {
  const accepted: Socket[] = [];
  server.on('connection', (socket: Socket) => accepted.push(socket));
  for (let client = 0; client < count; client += 1) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    clients.push(socket);
  }
  await eventually(() => expect(accepted).toHaveLength(count));
  return accepted;
}

test('a handshake begins when its first record is complete, with all bytes', async () => {
  const [socket] = await connectMany(1);
  clients[0]?.write(record.subarray(0, 5));
  await eventually(() => expect(socket?.bytesRead).toBe(5));
  expect(begun).toEqual([]);
  clients[0]?.write(record.subarray(5));
  await eventually(() => expect(begun).toHaveLength(1));
  expect(begun[0]?.read()).toEqual(record);
});

test('bytes that are no handshake do not wait', async () => {
  await connectMany(1);
  clients[0]?.write('GET / HTTP/1.1\r\n');
  await eventually(() => expect(begun).toHaveLength(1));
});

test('connections that were closed while they waited for their turn begin no handshake', async () => {
  const accepted = await connectMany(3);
  onBegin = (first) => {
    for (const socket of accepted) if (socket !== first) socket.destroy();
  };
  for (const client of clients) client.write(record);
  await eventually(() => expect(accepted.filter(({ closed }) => closed).length).toBe(2));
  expect(begun).toHaveLength(1);
});

test('connections that their clients have left while they waited for their turn begin no handshake', async () => {
  const accepted = await connectMany(20);
  for (const client of clients) client.end(record);
  await eventually(() => expect(accepted.filter(({ closed }) => closed)).toHaveLength(20));
  expect(begun).toEqual([]);
});

test('what follows the first record while a connection waits is behind it', async () => {
  await connectMany(1);
  clients[0]?.write(Buffer.concat([record, Buffer.from('early')]));
  await eventually(() => expect(begun).toHaveLength(1));
  expect(begun[0]?.read()).toEqual(Buffer.concat([record, Buffer.from('early')]));
});
