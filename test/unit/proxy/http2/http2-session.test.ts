import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { expect, jest, test } from '@jest/globals';
import type { DataPlane } from '../../../../src/proxy/data-plane.ts';
import { Http2Session } from '../../../../src/proxy/http2/http2-session.ts';
import { defaultLimits } from '../../../../src/proxy/limits/limits.ts';
import { SharedQuota } from '../../../../src/fairness/shared-quota.ts';
import type { InputTurns } from '../../../../src/proxy/listen/input-turns.ts';
import type { Connection } from '../../../../src/proxy/messages/connection.ts';
import { eventually } from '../../../support/eventually.ts';
import { frame, frameTypes, preface, receiveFrames } from '../../../support/http2.ts';
import { throwFault } from '../../../support/proxy.ts';

/** A connection whose client never has its turn, and the account of the bytes that wait. */
function start(limit: number) {
  const [client, side] = duplexPair();
  const socket = Object.assign(side, { destroySoon: () => side.destroy() });
  const quota = new SharedQuota(limit, () => undefined);
  const connection = {
    peer: { address: 'client', scheme: 'http' },
    isDraining: () => false,
    busy: () => undefined,
    idle: () => undefined,
  };
  const plane = {
    limits: defaultLimits,
    quotas: { buffered: quota, reached: () => undefined },
    now: () => 0,
    fault: throwFault,
  };
  const session = new Http2Session(
    socket as unknown as Socket,
    connection as unknown as Connection,
    {
      plane: plane as unknown as DataPlane,
      ticks: { now: 0, idle: 1, flush: 1 },
      turns: { take: () => undefined } as unknown as InputTurns,
    },
    () => undefined,
  );
  const { frames } = receiveFrames(client.on('error', () => undefined) as Socket);
  return { client, socket, session, quota, frames };
}

const input = Buffer.concat([preface, frame('data', 0, 1, Buffer.alloc(4_000))]);

test('a read counts as buffered while it waits for the turn of its client', async () => {
  const { client, socket, session, quota } = start(100_000);
  client.write(input);
  await eventually(() => expect(quota.used).toBe(input.length));
  expect(session.isHolding).toBe(true);
  socket.destroy();
  await eventually(() => expect(quota.used).toBe(0));
});

test('a read without room for it ends its connection', async () => {
  const { client, session, quota, frames } = start(2_000);
  client.write(input);
  const enhanceYourCalm = 11;
  await eventually(() =>
    expect(frames.find(({ type }) => type === frameTypes.goaway)?.payload.readUInt32BE(4)).toBe(enhanceYourCalm),
  );
  expect(session.isHolding).toBe(false);
  expect(quota.used).toBe(0);
  client.destroy();
});

test('a connection with a request under way gives up compressed fields like an idle one', () => {
  const { session, socket } = start(100_000);
  const forgetUnused = jest.spyOn(session.sender, 'forgetUnused');
  session.streams.set(1, { isFlushing: false, abort: () => undefined } as never);
  session.check();
  expect(forgetUnused).toHaveBeenCalledTimes(1);
  session.streams.delete(1);
  socket.destroy();
});
