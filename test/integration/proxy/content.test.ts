import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ConfigResource, RouteFilter, RouteRule } from '../../../src/core/routing/config.ts';
import { authorizedBy, startServer } from '../../support/authorization.ts';
import { closeBackends, refusingPort, startBackend, startEcho, startHttp2Backend } from '../../support/backends.ts';
import type { Echo } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import {
  closeProxies,
  openRaw,
  prefixRule,
  receiveUntil,
  startProxy,
  throwFault,
  webRoute,
} from '../../support/proxy.ts';
import type { ProxyUnderTest } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

// Bodies that arrive with their heads are in memory that the next read of any connection uses. Whatever delays a request, its backend
// must get its own body.

const letters = ['a', 'b', 'c', 'd', 'e', 'f'];
const bodyOf = (letter: string): string => letter.repeat(10_240);

function start(ports: readonly number[], rule: Partial<RouteRule> = {}, more: readonly ConfigResource[] = []) {
  return startProxy([endpointsConfig('app', ...ports), ...more, webRoute({ ...prefixRule('/', []), ...rule })], {
    onFault: throwFault,
    limits: { connectionsPerEndpoint: 2 },
  });
}

/** Sends a request for each letter at once, several times, and returns the responses. Each is the second one of its connection. */
async function sendAll({ port }: ProxyUnderTest, method: string): Promise<string[]> {
  const responses: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const clients = await Promise.all(letters.map(() => connectTo(port)));
    const answers = clients.map(text);
    for (const [position, letter] of letters.entries()) {
      const head = `${method} /${letter} HTTP/1.1\r\nHost: a\r\nContent-Length: 10240\r\nConnection: close\r\n\r\n`;
      clients[position]?.write(`${head}${bodyOf(letter)}`);
    }
    responses.push(...(await Promise.all(answers)));
  }
  return responses;
}

/** Opens a connection that has had a response. The first bytes of a connection are not read like the later ones. */
async function connectTo(port: number): Promise<Socket> {
  const client = openRaw(port);
  client.write('OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n');
  await receiveUntil(client, '\r\n\r\n');
  return client;
}

const expected = ['', '', ''].flatMap(() => letters.map((letter) => `/${letter}: 10240 ${letter}`));

/** The target and the body that an echo has got. */
function gotten(response: string): string {
  const [, content = ''] = response.split('\r\n\r\n');
  return summaryOf(JSON.parse(content.slice(content.indexOf('{'), content.lastIndexOf('}') + 1)) as Echo);
}

function summaryOf({ target, body }: Pick<Echo, 'target' | 'body'>): string {
  return `${target}: ${body.length} ${[...new Set(body)].join('')}`;
}

describe.each(['POST', 'PUT'])('content of %s requests', (method) => {
  test('that wait for connections', async () => {
    const proxy = await start([(await startEcho()).port]);
    expect((await sendAll(proxy, method)).map(gotten)).toEqual(expected);
    expect(proxy.proxy.counters().requestBytes).toBe(expected.length * 10_240);
    await eventually(() => expect(proxy.proxy.counters().buffered.used).toBe(0));
  });

  test('that are tried at another endpoint', async () => {
    const proxy = await start([await refusingPort(), (await startEcho()).port]);
    expect((await sendAll(proxy, method)).map(gotten)).toEqual(expected);
  });

  test('that are sent again after a status', async () => {
    const tries = new Map<string, number>();
    const backend = await startBackend((request, response) => {
      const chunks: Buffer[] = [];
      request
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const target = request.url ?? '';
          const count = (tries.get(target) ?? 0) + 1;
          tries.set(target, count);
          response.writeHead(count % 2 === 1 ? 503 : 200);
          response.end(JSON.stringify({ target, body: Buffer.concat(chunks).toString() }));
        });
    });
    const proxy = await start([backend.port], { retry: { codes: [503], attempts: 1, backoff: 1 } });
    expect((await sendAll(proxy, method)).map(gotten)).toEqual(expected);
  });

  test('that are authorized before', async () => {
    const [server, app] = [await startServer(), await startEcho()];
    const filters: readonly RouteFilter[] = [authorizedBy('auth')];
    const proxy = await start([app.port], prefixRule('/', filters), [endpointsConfig('auth', server.port)]);
    expect((await sendAll(proxy, method)).map(gotten)).toEqual(expected);
  });

  test('that are mirrored', async () => {
    const [copies, app] = [await startServer(), await startEcho()];
    const target = { type: 'endpoints', key: endpointsConfig('copy').key } as const;
    const filters: readonly RouteFilter[] = [{ type: 'mirror', target, numerator: 1, denominator: 1 }];
    const proxy = await start([app.port], prefixRule('/', filters), [endpointsConfig('copy', copies.port)]);
    expect((await sendAll(proxy, method)).map(gotten)).toEqual(expected);
    await eventually(() => expect(copies.asked.map(summaryOf).toSorted()).toEqual(expected.toSorted()));
  });

  test('for backends with HTTP/2', async () => {
    const backend = await startHttp2Backend((stream, headers) => {
      const chunks: Buffer[] = [];
      stream
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          stream.respond({ ':status': 200 });
          stream.end(JSON.stringify({ target: headers[':path'], body: Buffer.concat(chunks).toString() }));
        });
    });
    const endpoints = { ...endpointsConfig('app', backend.port), protocol: 'h2c' } as const;
    const proxy = await start([], {}, [endpoints]);
    expect((await sendAll(proxy, method)).map(gotten)).toEqual(expected);
  });
});
