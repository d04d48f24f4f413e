import { describe, expect, test } from '@jest/globals';
import { createLogger, logLevels, type LogLevel } from '../../../src/telemetry/log.ts';

function capture(level: LogLevel = 'trace', isTTY = false) {
  const lines: string[] = [];
  return { lines, log: createLogger(level, { isTTY, write: (line) => lines.push(line) }) };
}

describe('createLogger', () => {
  test('writes one JSON object a line, with the message constant and the pairs beside it', () => {
    const { lines, log } = capture();
    log.info({ gateway: 'shop/web', port: 80 }, 'gateway ready');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/\}\n$/);
    const { time, ...record } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
    expect(record).toEqual({ level: 'info', gateway: 'shop/web', port: 80, msg: 'gateway ready' });
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('writes a readable line to a terminal', () => {
    const { lines, log } = capture('info', true);
    log.warn({ gateway: 'shop/web', address: 'a b', ports: [80] }, 'gateway not ready');
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d warn {2}gateway not ready {2}gateway=shop\/web {2}address="a b" {2}ports=\[80\]\n$/,
    );
  });

  test('escapes control characters for a terminal', () => {
    const { lines, log } = capture('info', true);
    log.info({ path: '/\u001b[2J\n' }, 'request');
    expect(lines[0]).toContain(String.raw`path="/\u001b[2J\n"`);
  });

  test.each(logLevels.filter((level) => level !== 'silent'))('keeps silent below its level: %s', (level) => {
    const { lines, log } = capture(level);
    for (const each of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) log[each]('said');
    const said = lines.map((line) => (JSON.parse(line) as { level: string }).level);
    expect(said).toEqual(logLevels.slice(logLevels.indexOf(level), -1));
  });

  test('says nothing at level silent', () => {
    const { lines, log } = capture('silent');
    log.fatal('said');
    expect(lines).toEqual([]);
  });

  test('describes an error with its stack', () => {
    const { lines, log } = capture();
    log.error({ err: new TypeError('boom') }, 'decision failed');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      msg: 'decision failed',
      err: { type: 'TypeError', message: 'boom', stack: expect.stringContaining('log.test') },
    });
  });

  test('redacts in records, in messages, in errors and in what child loggers carry', () => {
    const { lines, log } = capture();
    log.child({ token: 'one-hidden' }).info({ headers: { authorization: 'two-hidden' } }, 'request');
    log.error({ err: new Error('sent Bearer three-hidden to it') }, 'failed');
    log.warn(new Error('sent Bearer four-hidden'));
    const text = lines.join('');
    expect(text).not.toContain('hidden');
    expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(4);
  });
});
