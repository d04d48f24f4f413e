import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { parseIpAddress } from '../../src/core/text/ip-address.ts';

/** How a name is answered: addresses with a TTL in seconds, an error, or not at all. Queries of the type `failing` get SERVFAIL. */
export type DnsAnswer =
  | { readonly addresses: readonly string[]; readonly ttl?: number; readonly failing?: keyof typeof types }
  | { readonly code: 'SERVFAIL' | 'NXDOMAIN' }
  | 'silent';

const codes = { SERVFAIL: 2, NXDOMAIN: 3 } as const;
const types = { A: 1, AAAA: 28 } as const;

const running = new Set<Socket>();

/** Ends every server that was started; for `afterEach`. */
export async function closeDnsServers(): Promise<void> {
  await Promise.all(
    [...running].map((socket) => {
      const closed = once(socket, 'close');
      socket.close();
      return closed;
    }),
  );
  running.clear();
}

/** A DNS server on loopback that answers from `zone`, which may change. Close it with `closeDnsServers`. */
export class DnsServer {
  /** Lower-case names. Others do not exist. */
  readonly zone = new Map<string, DnsAnswer>();
  /** The names that were asked for, once for each type of record. */
  readonly queries: string[] = [];
  private readonly socket = createSocket('udp4');

  static async start(): Promise<DnsServer> {
    const server = new DnsServer();
    server.socket.on('message', (query, { port, address }) => {
      const response = server.respond(query);
      if (response !== undefined) server.socket.send(response, port, address);
    });
    server.socket.bind(0, '127.0.0.1');
    await once(server.socket, 'listening');
    running.add(server.socket);
    return server;
  }

  /** `address:port`. */
  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  private respond(query: Buffer): Buffer | undefined {
    const { name, type, end } = questionOf(query);
    this.queries.push(name);
    const answer = this.zone.get(name) ?? { code: 'NXDOMAIN' };
    if (answer === 'silent') return undefined;
    const question = query.subarray(12, end);
    if ('code' in answer) return Buffer.concat([header(query, codes[answer.code], 0), question]);
    if (answer.failing !== undefined && types[answer.failing] === type)
      return Buffer.concat([header(query, codes.SERVFAIL, 0), question]);
    const records = answer.addresses.flatMap((address) => {
      const data = dataOf(address);
      return data.length === (type === types.A ? 4 : 16) && (type === types.A || type === types.AAAA)
        ? [record(type, answer.ttl ?? 0, data)]
        : [];
    });
    return Buffer.concat([header(query, 0, records.length), question, ...records]);
  }
}

function questionOf(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function header(query: Buffer, code: number, answers: number): Buffer {
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(answers, 6);
  return head;
}

/** A record about the name of the question. */
function record(type: number, ttl: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function dataOf(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  return Buffer.from((parseIpAddress(address) ?? 0n).toString(16).padStart(32, '0'), 'hex');
}
