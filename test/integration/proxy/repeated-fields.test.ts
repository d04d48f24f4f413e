import { afterEach, describe, expect, test } from '@jest/globals';
import type { RouteFilter } from '../../../src/core/routing/config.ts';
import { closeBackends, startRawBackend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import {
  backendOf,
  closeProxies,
  openRaw,
  prefixRule,
  receiveUntil,
  startProxy,
  webRoute,
} from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

function setField(type: 'requestHeaders' | 'responseHeaders', value: string): RouteFilter {
  return { type, set: [{ name: 'x-filter', value }], add: [], remove: [] };
}

/** A proxy with the paths /a and /b, which differ in their filters. The body of each response is the head of the request. */
async function startRecorder() {
  const backend = await startRawBackend((socket) => {
    socket.on('data', (data: Buffer) => {
      const head = data.toString('latin1');
      const body = head.startsWith('HEAD') ? '' : head;
      const length = Buffer.byteLength(head, 'latin1').toString().padStart(5, '0');
      socket.write(`HTTP/1.1 200 OK\r\nX-Same: 1\r\nContent-Length: ${length}\r\nDate: now\r\n\r\n${body}`, 'latin1');
    });
  });
  const backends = [backendOf('app')];
  const rule = (prefix: string): ReturnType<typeof prefixRule> =>
    prefixRule(prefix, [setField('requestHeaders', prefix), setField('responseHeaders', prefix)], { backends });
  const { port } = await startProxy([
    endpointsConfig('app', backend.port),
    webRoute({ ...rule('/a'), index: 0 }, { ...rule('/b'), index: 1 }),
  ]);
  return port;
}

/** Sends requests on one connection, each after the response to the previous one. Returns the responses. */
async function exchange(port: number, requests: readonly string[]): Promise<readonly string[]> {
  const socket = openRaw(port);
  const responses: string[] = [];
  for (const request of requests) {
    // The forwarded head, which is the body, ends with this field.
    const end = request.startsWith('HEAD') ? '\r\n\r\n' : 'connection: keep-alive\r\n\r\n';
    const received = receiveUntil(socket, end);
    socket.write(request, 'latin1');
    responses.push(await received);
    socket.removeAllListeners('data').removeAllListeners('close');
  }
  socket.destroy();
  return responses;
}

describe('requests with the same fields on one connection', () => {
  const fields = 'Host: one.example\r\nUser-Agent: x\r\nX-Forwarded-For: 192.0.2.1\r\nMax-Forwards: 7';
  const send = (line: string): string => `${line}\r\n${fields}\r\n\r\n`;
  const requests = [
    send('GET /a HTTP/1.1'),
    send('GET /a?again HTTP/1.1'),
    send('GET /a?third HTTP/1.1'),
    send('GET /b HTTP/1.1'),
    send('GET /a HTTP/1.1'),
    send('HEAD /a HTTP/1.1'),
    send('GET /a HTTP/1.1'),
    send('OPTIONS /a HTTP/1.1'),
    send('GET http://two.example/a HTTP/1.1'),
    send('GET /a HTTP/1.1'),
    send('GET /a HTTP/1.1').replace('User-Agent: x', 'User-Agent: y'),
    send('GET /a HTTP/1.1'),
  ];

  test('are forwarded and answered as on connections of their own', async () => {
    const together = await exchange(await startRecorder(), requests);
    const alone: string[] = [];
    for (const request of requests) alone.push(...(await exchange(await startRecorder(), [request])));
    expect(together).toEqual(alone);
    expect(alone[3]).toContain('x-filter: /b');
    expect(alone[7]).toContain('max-forwards: 6');
    expect(alone[8]).toContain('host: two.example');
    expect(alone[10]).toContain('User-Agent: y');
  });
});
