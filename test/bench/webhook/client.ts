import { setTimeout as pause } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';

// A client that costs little itself: requests are written as prepared bytes, and of answers only the end is looked for.
// It is a process of its own, and is told what to do by messages.

/** Load for the server at `port` of this machine, over connections that stay open between orders. */
export interface LoadOrder {
  readonly type: 'load';
  readonly port: number;
  /** Trusted as PEM. */
  readonly authority: string;
  readonly connections: number;
  /** Asked in turns. */
  readonly bodies: readonly string[];
  readonly milliseconds: number;
  /** Reviews a second over all connections, sent when they are due; as fast as answers come where it is left out. */
  readonly rate?: number;
}

/** Every body once, for the answers themselves. */
export interface AskOrder extends Omit<LoadOrder, 'type' | 'connections' | 'milliseconds' | 'rate'> {
  readonly type: 'ask';
}

/** Milliseconds from the first byte written, at a fixed rate from the moment at which the review was due, to the last one read. */
export interface LoadReport {
  readonly reviews: number;
  readonly p50: number;
  readonly p99: number;
}

/** Of each answer, in order, whether the review was allowed; `null` where it was no answer to a review. */
export type AskReport = readonly (boolean | null)[];

const latencies = new Float64Array(2_000_000);

class Connection {
  private readonly socket: TLSSocket;
  private received: Buffer[] = [];
  private answered: ((answer: Buffer) => void) | undefined;

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (data) => this.take(data));
    socket.on('close', () => fail(new Error('the server closed a connection')));
  }

  static open(port: number, ca: string): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' }, () =>
        resolve(new Connection(socket)),
      );
      socket.once('error', reject);
    });
  }

  exchange(request: Buffer): Promise<Buffer> {
    return new Promise((resolve) => {
      this.answered = resolve;
      this.socket.write(request);
    });
  }

  private take(data: Buffer): void {
    this.received.push(data);
    const answer = this.received.length === 1 ? data : Buffer.concat(this.received);
    if (!isWhole(answer)) return;
    this.received = [];
    this.answered?.(answer);
  }
}

const endOfHead = '\r\n\r\n';
const endOfChunks = '\r\n0\r\n\r\n';

/** Whether all of an answer is there, by its length or by the last of its chunks. */
function isWhole(answer: Buffer): boolean {
  const end = answer.indexOf(endOfHead);
  if (end === -1) return false;
  const head = answer.toString('latin1', 0, end);
  const length = /^content-length: *([0-9]+)/im.exec(head)?.[1];
  if (length !== undefined) return answer.length >= end + endOfHead.length + Number(length);
  return answer.subarray(-endOfChunks.length).equals(Buffer.from(endOfChunks));
}

const pools = new Map<number, Connection[]>();

async function poolFor(port: number, authority: string, size: number): Promise<readonly Connection[]> {
  const pool = pools.get(port) ?? [];
  pools.set(port, pool);
  while (pool.length < size) pool.push(await Connection.open(port, authority));
  return pool.slice(0, size);
}

function requestFor(body: string): Buffer {
  const head = `POST /validate?timeout=10s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return Buffer.from(head + body);
}

async function load({
  port,
  authority,
  connections,
  bodies,
  milliseconds,
  rate = Infinity,
}: LoadOrder): Promise<LoadReport> {
  const pool = await poolFor(port, authority, connections);
  const requests = bodies.map(requestFor);
  const begin = performance.now();
  const end = begin + milliseconds;
  let next = 0;
  let reviews = 0;
  await Promise.all(
    pool.map(async (connection) => {
      while (performance.now() < end) {
        const number = next++;
        const due = begin + (number * 1000) / rate;
        if (due > performance.now()) await pause(due - performance.now());
        const start = rate === Infinity ? performance.now() : due;
        await connection.exchange(requests[number % requests.length] ?? Buffer.alloc(0));
        latencies[reviews++] = performance.now() - start;
      }
    }),
  );
  const sorted = latencies.subarray(0, reviews).sort();
  const at = (share: number): number => sorted[Math.min(reviews - 1, Math.floor(reviews * share))] ?? Number.NaN;
  return { reviews, p50: at(0.5), p99: at(0.99) };
}

async function ask({ port, authority, bodies }: AskOrder): Promise<AskReport> {
  const [connection] = await poolFor(port, authority, 1);
  const answers: (boolean | null)[] = [];
  for (const body of bodies)
    answers.push(connection === undefined ? null : verdictOf(await connection.exchange(requestFor(body))));
  return answers;
}

function verdictOf(answer: Buffer): boolean | null {
  const verdict = /"allowed": *(true|false)/.exec(answer.toString())?.[1];
  return verdict === undefined ? null : verdict === 'true';
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}

process.on('message', (order: LoadOrder | AskOrder) => {
  const done: Promise<LoadReport | AskReport> = order.type === 'load' ? load(order) : ask(order);
  done.then((report) => process.send?.(report), fail);
});
