import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, test } from '@jest/globals';
import { inSlices } from '../../../src/channel/outbox.ts';
import { eventually } from '../../support/eventually.ts';

/** A stream that takes a piece whenever `next` is called, and as many as come after `readAll`. */
function begin(): { stream: Writable; received: Buffer[]; next: () => void; readAll: () => void } {
  const received: Buffer[] = [];
  let complete: (() => void) | undefined;
  let isReading = false;
  const stream = new Writable({
    highWaterMark: 1_000,
    write(piece: Buffer, _encoding, done) {
      received.push(piece);
      if (isReading) done();
      else complete = done;
    },
  });
  const next = (): void => complete?.();
  const readAll = (): void => {
    isReading = true;
    next();
  };
  return { stream, received, next, readAll };
}

test('a long line waits for the stream, and is counted until all of it is passed on', async () => {
  const { stream, received, next, readAll } = begin();
  const outbox = inSlices(stream);
  const line = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
  outbox.write(line);
  expect(stream.writableLength).toBe(64 * 1024);
  expect(outbox.writableLength).toBe(300_000);
  next();
  await eventually(() => expect(received).toHaveLength(2));
  expect(stream.writableLength).toBe(64 * 1024);
  expect(outbox.writableLength).toBe(300_000);
  readAll();
  await eventually(() => expect(outbox.writableLength).toBe(0));
  expect(Buffer.concat(received).equals(line)).toBe(true);
});

test('short lines are passed on together, in order, and the end comes after all of them', async () => {
  const { stream, received, readAll } = begin();
  const outbox = inSlices(stream);
  for (const line of ['a', 'b', 'c']) outbox.write(Buffer.from(line));
  outbox.write(Buffer.alloc(200_000, 'd'));
  outbox.write(Buffer.from('e'));
  outbox.end();
  expect(stream.writableLength).toBeLessThanOrEqual(64 * 1024 + 3);
  expect(stream.writableEnded).toBe(false);
  readAll();
  await finished(stream);
  expect(Buffer.concat(received).equals(Buffer.from(`abc${'d'.repeat(200_000)}e`))).toBe(true);
});

test('a stream that is destroyed before its end is complete causes no error of the outbox', async () => {
  const { stream } = begin();
  const outbox = inSlices(stream);
  const errors: unknown[] = [];
  outbox.on('error', (error) => errors.push(error));
  outbox.write(Buffer.from('a'));
  outbox.end();
  await eventually(() => expect(stream.writableEnded).toBe(true));
  stream.destroy();
  await eventually(() => expect(stream.closed && outbox.writableFinished).toBe(true));
  expect(errors).toEqual([]);
});
