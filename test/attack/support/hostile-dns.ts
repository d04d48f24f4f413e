import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** An address that must never be contacted, because it is internal. */
export const forbidden = '127.0.0.66';
/** The address that tests allow. */
export const permitted = '127.0.0.1';

const [typeA, typeCname] = [1, 5];
const largestMessage = 65_535;

interface Question {
  readonly query: Buffer;
  /** The bytes of the question section. */
  readonly section: Buffer;
  readonly type: number;
}

/** Returns the datagrams that answer a query. */
type Answering = (question: Question, isTcp: boolean) => readonly Buffer[];

const pointer: Buffer = Buffer.from([0xc0, 0x0c]);

function message({ query, section }: Question, records: readonly Buffer[], flags = 0x8180): Buffer {
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(flags, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, section, ...records]);
}

function record(owner: Buffer, type: number, ttl: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt32BE(ttl, 4);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, head, data]);
}

function addressRecord(address: string, ttl = 60, owner = pointer): Buffer {
  return record(owner, typeA, ttl, Buffer.from(address.split('.').map(Number)));
}

function wireName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** A records for IPv4; no record for other types. */
function addresses(list: (ttl: number) => readonly Buffer[], ttl = 60): Answering {
  return (question) => [message(question, question.type === typeA ? list(ttl) : [])];
}

const truncated: Answering = (question) => [message(question, [], 0x8380)];
const thousands = Array.from({ length: 4_000 }, (_, index) => addressRecord(`10.1.${index >> 8}.${index & 255}`));
let changes = 0;

/** How a server answers for a name, by the first label of the name. */
export const hostileAnswers: Readonly<Record<string, Answering>> = {
  never: () => [],
  endless: truncated,
  stalled: truncated,
  closing: truncated,
  'cname-loop': (question) => [message(question, [record(pointer, typeCname, 60, pointer)])],
  'cname-chain': (question) => {
    const chain = Array.from({ length: 300 }, (_, index) =>
      record(index === 0 ? pointer : wireName(`c${index}.example`), typeCname, 60, wireName(`c${index + 1}.example`)),
    );
    return [message(question, [...chain, addressRecord(forbidden, 60, wireName('c300.example'))])];
  },
  thousands: (question, isTcp) =>
    isTcp && question.type === typeA ? [message(question, thousands)] : truncated(question, isTcp),
  'ttl-0': addresses((ttl) => [addressRecord(permitted, ttl)], 0),
  'ttl-31': addresses((ttl) => [addressRecord(permitted, ttl)], 2 ** 31),
  'ttl-32': addresses((ttl) => [addressRecord(permitted, ttl)], 2 ** 32 - 1),
  'wrong-id': (question) => {
    const wrong = message(question, [addressRecord(permitted)]);
    wrong.writeUInt16BE((wrong.readUInt16BE(0) + 1) & 0xffff, 0);
    return Array.from({ length: 50 }, () => wrong);
  },
  'other-question': (question) => [
    message(
      { ...question, section: Buffer.concat([wireName('good.example'), Buffer.from([0, question.type, 0, 1])]) },
      [addressRecord(forbidden)],
    ),
  ],
  'other-names': addresses(() => [addressRecord(forbidden, 60, wireName('good.example'))]),
  garbage: ({ query }) => [
    Buffer.alloc(0),
    query.subarray(0, 2),
    Buffer.concat([query.subarray(0, 2), Buffer.alloc(510, 0xff)]),
    Buffer.concat([query.subarray(0, 2), Buffer.alloc(500, 0xc0)]),
  ],
  'too-many-records': (question) => {
    const answer = message(question, [addressRecord(forbidden)]);
    answer.writeUInt16BE(largestMessage, 6);
    return [answer];
  },
  'pointer-loop': (question) => [
    message({ ...question, section: Buffer.concat([pointer, Buffer.from([0, question.type, 0, 1])]) }, []),
  ],
  mixed: addresses(() => [addressRecord(forbidden), addressRecord('10.0.0.1'), addressRecord('169.254.169.254')]),
  changing: addresses((ttl) => {
    changes += 1;
    return [addressRecord(changes % 2 === 0 ? forbidden : `127.0.${changes & 255}.67`, ttl)];
  }, 0),
};

/** A DNS server on loopback, over UDP and TCP, that answers for `KIND-N.hostile.example`, and for all other names with `permitted`. */
export class HostileDns {
  /** Queries so far. */
  queries = 0;
  private readonly datagrams = createSocket('udp4');
  private readonly streams = createServer((socket) => this.serve(socket));
  private readonly sockets = new Set<Socket>();

  static async start(): Promise<HostileDns> {
    const server = new HostileDns();
    server.datagrams.on('message', (query, { port, address }) => {
      for (const answer of server.answer(query, false)) server.datagrams.send(answer, port, address);
    });
    await once(server.streams.listen(0, '127.0.0.1'), 'listening');
    server.datagrams.bind((server.streams.address() as AddressInfo).port, '127.0.0.1');
    await once(server.datagrams, 'listening');
    return server;
  }

  /** `address:port`. */
  get address(): string {
    return `127.0.0.1:${this.datagrams.address().port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.datagrams.close();
    this.streams.close();
    await once(this.streams, 'close');
  }

  private answer(query: Buffer, isTcp: boolean): readonly Buffer[] {
    this.queries += 1;
    const question = questionOf(query);
    const answering = hostileAnswers[kindOf(question)] ?? addresses(() => [addressRecord(permitted)]);
    return answering(question, isTcp);
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => this.sockets.delete(socket));
    let bytes: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE(0)) {
        const query = bytes.subarray(2, 2 + bytes.readUInt16BE(0));
        bytes = bytes.subarray(2 + query.length);
        this.answerStream(socket, query);
      }
    });
  }

  private answerStream(socket: Socket, query: Buffer): void {
    const kind = kindOf(questionOf(query));
    if (kind === 'closing') socket.destroy();
    else if (kind === 'endless') flood(socket, query);
    else if (kind !== 'stalled')
      for (const answer of this.answer(query, true)) {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([length, answer]));
      }
  }
}

/** Messages of the largest size for another query, without end. */
function flood(socket: Socket, query: Buffer): void {
  const bytes = Buffer.alloc(2 + largestMessage);
  bytes.writeUInt16BE(largestMessage);
  bytes.writeUInt16BE((query.readUInt16BE(0) + 1) & 0xffff, 2);
  const more = (): void => {
    if (!socket.destroyed) socket.write(bytes, () => setTimeout(more, 1));
  };
  more();
}

function questionOf(query: Buffer): Question {
  let at = 12;
  while (at < query.length && query.readUInt8(at) > 0) at += 1 + query.readUInt8(at);
  return { query, section: query.subarray(12, at + 5), type: query.readUInt16BE(at + 1) };
}

function kindOf({ section }: Question): string {
  const label = section.toString('latin1', 1, 1 + section.readUInt8(0)).toLowerCase();
  return label.replace(/-n\d+$/, '');
}
