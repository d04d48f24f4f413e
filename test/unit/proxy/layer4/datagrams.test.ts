import type { Socket } from 'node:dgram';
import { describe, expect, test } from '@jest/globals';
import { sendDatagram } from '../../../../src/proxy/layer4/datagrams.ts';
import { SharedQuota } from '../../../../src/fairness/shared-quota.ts';

/** A socket whose kernel takes nothing while `isBlocked`. */
function fakeSocket() {
  const waiting: { readonly bytes: number; readonly sent: () => void }[] = [];
  const state = { isBlocked: true, fails: false };
  const socket = {
    getSendQueueSize: () => waiting.reduce((sum, { bytes }) => sum + bytes, 0),
    send(message: Buffer, ...rest: readonly unknown[]) {
      if (state.fails) throw new Error('not running');
      const sent = rest.at(-1) as () => void;
      if (state.isBlocked) waiting.push({ bytes: message.length, sent });
      else sent();
    },
  };
  return {
    socket: socket as unknown as Socket,
    state,
    flush: () => {
      for (const { sent } of waiting.splice(0)) sent();
    },
  };
}

const message = Buffer.alloc(1_000);

describe('datagrams that wait', () => {
  const setting = (limit: number) => {
    const buffered = new SharedQuota(limit, () => undefined);
    return { ...fakeSocket(), buffered, limits: { queueBytes: 10_000, buffered, client: '192.0.2.1' } };
  };

  test('are part of the buffered bytes of the client until they are sent', () => {
    const { socket, buffered, limits, flush } = setting(1_000_000);
    expect(sendDatagram(socket, message, limits)).toBe(true);
    expect(sendDatagram(socket, message, limits, { address: '192.0.2.1', port: 9 })).toBe(true);
    expect(buffered.used).toBe(2 * 1_512);
    flush();
    expect(buffered.used).toBe(0);
  });

  test('are dropped beyond the quota', () => {
    const { socket, buffered, limits, flush } = setting(2_000);
    expect(sendDatagram(socket, message, limits)).toBe(true);
    expect(sendDatagram(socket, message, limits)).toBe(false);
    flush();
    expect(buffered.used).toBe(0);
    expect(sendDatagram(socket, message, limits)).toBe(true);
  });

  test('are dropped beyond the limit of the socket', () => {
    const { socket, limits } = setting(1_000_000);
    const sent = Array.from({ length: 12 }, () => sendDatagram(socket, message, limits));
    expect(sent.filter(Boolean)).toHaveLength(10);
  });

  test('cost nothing while the kernel takes them', () => {
    const { socket, state, buffered, limits } = setting(1_000_000);
    state.isBlocked = false;
    expect(sendDatagram(socket, message, limits)).toBe(true);
    expect(buffered.used).toBe(0);
  });

  test('are not counted if the socket fails', () => {
    const { socket, state, buffered, limits } = setting(1_000_000);
    sendDatagram(socket, message, limits);
    state.fails = true;
    expect(() => sendDatagram(socket, message, limits)).toThrow('not running');
    expect(buffered.used).toBe(1_512);
  });
});
