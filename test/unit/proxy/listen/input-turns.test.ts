import { expect, test } from '@jest/globals';
import { InputTurns } from '../../../../src/proxy/listen/input-turns.ts';
import type { Input } from '../../../../src/proxy/listen/input-turns.ts';

/** Work in one turn: of a client that is alone, and of one that comes when others have used it up. */
const perTurn = 512;
const perClient = 128;

/** Input of so much work, and a record of what was handled. */
function input(client: string, work: number, record: [string, number][]): Input & { readonly left: number } {
  let left = work;
  return {
    client,
    get isHolding() {
      return left > 0;
    },
    get left() {
      return left;
    },
    feed: (budget) => {
      const done = Math.min(budget, left);
      left -= done;
      record.push([client, done]);
      return done;
    },
  };
}

const wholeTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test('ordinary input is handled at once', () => {
  const turns = new InputTurns(() => 0);
  const record: [string, number][] = [];
  turns.take(input('a', 10, record));
  turns.take(input('a', 20, record));
  expect(record).toEqual([
    ['a', 10],
    ['a', 20],
  ]);
});

test('a client that sends more waits, on all of its connections, and others do not wait for it', async () => {
  const turns = new InputTurns(() => 0);
  const record: [string, number][] = [];
  const [first, second] = [input('a', 10_000, record), input('a', 300, record)];
  turns.take(first);
  turns.take(second);
  expect([first.left, second.left]).toEqual([10_000 - perTurn, 300]);
  const other = input('b', 100, record);
  turns.take(other);
  expect(other.left).toBe(0);
  await wholeTurn();
  expect(second.left).toBeLessThan(300);
  while (first.isHolding || second.isHolding) await wholeTurn();
});

test('a client that comes late in a turn has its part of it', () => {
  const turns = new InputTurns(() => 0);
  const record: [string, number][] = [];
  turns.take(input('a', 10_000, record));
  for (const client of ['b', 'c']) turns.take(input(client, 10_000, record));
  expect(record).toEqual([
    ['a', perTurn],
    ['b', perClient],
    ['c', perClient],
  ]);
});

test('input that waits and comes again is handled once', async () => {
  const turns = new InputTurns(() => 0);
  const record: [string, number][] = [];
  const [first, second] = [input('a', perTurn, record), input('a', 100, record)];
  for (const one of [first, second, second, second]) turns.take(one);
  while (second.isHolding) await wholeTurn();
  await wholeTurn();
  expect(record).toEqual([
    ['a', perTurn],
    ['a', 100],
  ]);
});

test('input that holds nothing when its turn comes is left out', async () => {
  const turns = new InputTurns(() => 0);
  const record: [string, number][] = [];
  turns.take(input('a', perTurn, record));
  const stopped = { ...input('a', 100, record), isHolding: true };
  turns.take(stopped);
  stopped.isHolding = false;
  const next = input('a', 10, record);
  turns.take(next);
  while (next.isHolding) await wholeTurn();
  expect(next.left).toBe(0);
});

test('long turns make less work of the next ones, and short ones more again', async () => {
  let now = 0;
  const turns = new InputTurns(() => now);
  const record: [string, number][] = [];
  const waits = input('a', 100_000, record);
  turns.take(waits);
  const turn = async (milliseconds: number): Promise<number> => {
    now += milliseconds;
    const before = waits.left;
    await new Promise(setImmediate);
    return before - waits.left;
  };
  const done: number[] = [];
  for (const milliseconds of [11, 11, 50, 50, 50, 1, 10, 1, 1]) done.push(await turn(milliseconds));
  expect(done).toEqual([256, 128, 64, 64, 64, 128, 256, 512, 512]);
});

test('turns are short while connections wait to be accepted', async () => {
  const burst = { isOver: false };
  const turns = new InputTurns(
    () => 0,
    () => !burst.isOver,
  );
  const waits = input('a', 100_000, []);
  turns.take(waits);
  expect(waits.left).toBe(100_000 - 64);
  await new Promise(setImmediate);
  expect(waits.left).toBe(100_000 - 2 * 64);
  burst.isOver = true;
  await new Promise(setImmediate);
  expect(waits.left).toBe(100_000 - 2 * 64 - perTurn);
});

test('clients that wait take turns', async () => {
  const turns = new InputTurns(() => 0);
  const record: [string, number][] = [];
  const inputs = ['a', 'b', 'c'].map((client) => input(client, 2_000, record));
  for (const one of inputs) turns.take(one);
  while (inputs.some(({ isHolding }) => isHolding)) await wholeTurn();
  const order = record.map(([client]) => client).join('');
  // The first one had more, while it was alone.
  expect(order).toMatch(/^(?:abc){4,}(?:bc)+$/);
});

// Otherwise a client with HTTP/1.1, whose connections hold one request each, had a twelfth of the time of one with HTTP/2.
test('clients have the same share whether their input waits on one connection or on many', async () => {
  const turns = new InputTurns(() => 0);
  const record: [string, number][] = [];
  for (const client of ['a', 'b', 'c', 'd', 'e']) turns.take(input(client, 100_000, record));
  const many = Array.from({ length: 60 }, () => input('f', 10, record));
  for (const one of many) turns.take(one);
  const workOf = (client: string): number =>
    record.reduce((sum, [other, work]) => sum + (other === client ? work : 0), 0);
  const [before, beforeOfOther] = [workOf('f'), workOf('e')];
  while (many.some(({ isHolding }) => isHolding)) await wholeTurn();
  expect(workOf('e') - beforeOfOther).toBeLessThan(workOf('f') - before + 2 * perClient);
});

/** The order in which requests of clients were handled, and the time, which each of them advances. */
interface Handling {
  readonly milliseconds: Readonly<Record<string, number>>;
  readonly order: string[];
  now: number;
}

/** Inputs that each look like a request. */
function requests(client: string, count: number, handling: Handling): Input[] {
  return Array.from({ length: count }, () => {
    const request = { client, isHolding: true, feed: () => 0 };
    request.feed = () => {
      request.isHolding = false;
      handling.now += handling.milliseconds[client] ?? 0;
      handling.order.push(client);
      return 10;
    };
    return request;
  });
}

test('a client whose input takes longer than it looks misses turns, while others wait', async () => {
  const handling: Handling = { milliseconds: { costly: 5 }, order: [], now: 0 };
  const turns = new InputTurns(() => handling.now);
  const costly = requests('costly', 5, handling);
  const ordinary = requests('ordinary', 300, handling);
  for (const one of [...costly, ...ordinary]) turns.take(one);
  while ([...costly, ...ordinary].some(({ isHolding }) => isHolding)) await wholeTurn();
  // Each costly request counts as 150 ordinary ones, less what a client may do at once.
  expect(handling.order.slice(0, 90).filter((client) => client === 'costly')).toHaveLength(1);
  expect(handling.order.slice(0, 240).filter((client) => client === 'costly').length).toBeLessThanOrEqual(2);
  expect(handling.order).toHaveLength(305);
});

test('a client that owes work is served while nobody else waits', async () => {
  const handling: Handling = { milliseconds: { costly: 50 }, order: [], now: 0 };
  const turns = new InputTurns(() => handling.now);
  const costly = requests('costly', 5, handling);
  for (const one of costly) turns.take(one);
  for (let count = 0; count < 5; count += 1) await wholeTurn();
  expect(handling.order).toHaveLength(5);
});

test('input that comes after long ones waits for the next turn, also that of new clients', async () => {
  const handling: Handling = { milliseconds: { a: 21 }, order: [], now: 0 };
  const turns = new InputTurns(() => handling.now);
  for (const one of ['a', 'b'].flatMap((client) => requests(client, 1, handling))) turns.take(one);
  expect(handling.order).toEqual(['a']);
  await wholeTurn();
  expect(handling.order).toEqual(['a', 'b']);
});
