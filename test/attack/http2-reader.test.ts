import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, startEcho } from '../support/backends.ts';
import { eventually } from '../support/eventually.ts';
import { receiveFrames } from '../support/http2.ts';
import { closeProxies, openRaw, send, startProxyTo } from '../support/proxy.ts';
import { cut, mutant } from './support/http2-mutants.ts';
import { readByNghttp2, readByProxy } from './support/http2-readers.ts';
import { randomFrom, scaled, seed } from './support/scale.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const single = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]));

describe('bytes that are not quite HTTP/2', () => {
  test('mean the same in one piece, cut at random, and byte by byte', () => {
    const random = randomFrom(seed);
    let served = 0;
    for (let round = 0; round < scaled(2_000, 100_000); round += 1) {
      const bytes = mutant(random);
      const { events, requests } = readByProxy([bytes]);
      served += requests.length;
      const isSame = (pieces: readonly Buffer[]): boolean =>
        JSON.stringify(readByProxy(pieces).events) === JSON.stringify(events);
      if (!isSame(single(bytes)) || !isSame(cut(bytes, random)))
        throw new Error(`pieces make a difference (SEED=${seed}, round ${round}): ${bytes.toString('hex')}`);
    }
    // A reader that refuses everything would pass.
    expect(served).toBeGreaterThan(scaled(1_000, 50_000));
  });

  test('nghttp2 reads the same requests, if it reads them at all', async () => {
    const random = randomFrom(seed + 1);
    let compared = 0;
    for (let round = 0; round < scaled(300, 20_000); round += 1) {
      const bytes = mutant(random);
      const { requests } = readByProxy([bytes]);
      const theirs = await readByNghttp2(bytes);
      for (const ours of requests.filter(({ isComplete }) => isComplete)) {
        const other = theirs.requests.get(ours.stream);
        // It may have ended the connection, or the stream, for a reason that does not concern requests.
        if (other === undefined || !other.isComplete || theirs.isOver) continue;
        compared += 1;
        expect([round, other]).toEqual([round, ours]);
      }
    }
    expect(compared).toBeGreaterThan(scaled(100, 7_000));
  });

  test('neither stop a data plane nor leave anything behind', async () => {
    const random = randomFrom(seed + 2);
    const { port, proxy } = await startProxyTo((await startEcho()).port);
    const attack = async (): Promise<void> => {
      const socket = openRaw(port);
      const { frames } = receiveFrames(socket);
      for (const piece of cut(mutant(random), random)) {
        if (!socket.writable) break;
        socket.write(piece);
        if (random() < 0.1) await setImmediate();
      }
      if (random() < 0.5) socket.end();
      else await setImmediate();
      socket.destroy();
      expect(frames.every(({ type }) => type < 10)).toBe(true);
    };
    for (let round = 0; round < scaled(10, 500); round += 1) await Promise.all(Array.from({ length: 20 }, attack));
    await eventually(() =>
      expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0, buffered: { used: 0 } }),
    );
    expect((await send(port, '/')).status).toBe(200);
  });
});
