import { expect, test } from '@jest/globals';
import { createLogger } from '../../../src/telemetry/log.ts';
import { outputTo } from '../../../src/telemetry/log-output.ts';

/** Keeps what is written until it is read. */
class Pipe {
  writableLength = 0;

  write(text: string): void {
    this.writableLength += text.length;
  }

  read(): void {
    this.writableLength = 0;
  }
}

test('a log that nobody reads does not fill the memory, and goes on when it is read', () => {
  const pipe = new Pipe();
  const log = createLogger('info', pipe);
  const path = '/'.repeat(10_000);
  for (let count = 0; count < 1_000; count += 1) log.info({ path }, 'request');
  expect(pipe.writableLength).toBeLessThan(4.1 * 1024 * 1024);
  const { omitted } = outputTo(pipe);
  expect(omitted).toBeGreaterThan(500);
  pipe.read();
  log.info('request');
  expect(pipe.writableLength).toBeGreaterThan(0);
  expect(outputTo(pipe).omitted).toBe(omitted);
});

test('counts the lines that are omitted together', () => {
  const pipe = new Pipe();
  const output = outputTo(pipe);
  output.write(`${'x'.repeat(5_000_000)}\n`);
  output.write('a\nb\nc\n');
  expect(output.omitted).toBe(3);
  expect(pipe.writableLength).toBe(5_000_001);
});
