import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { createClient } from '../../../src/kubernetes/index.ts';
import { credentialsFor } from '../../support/credentials.ts';
import { eventually } from '../../support/eventually.ts';

const mebi = 2 ** 20;

test('lines of all watches that do not end have a limit together, and the longest ends first', async () => {
  const responses = new Map<string, ServerResponse>();
  const server = createServer((request, response) => {
    responses.set(request.url ?? '', response.writeHead(200, { 'content-type': 'application/json' }));
    response.flushHeaders();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = createClient(credentialsFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  try {
    const sizes = new Map([1, 13, 12, 14, 12, 13, 12].map((size, position) => [`/${position}`, size * mebi]));
    const outcomes = new Map<string, string>();
    const follow = async (path: string): Promise<void> => {
      try {
        for await (const batch of client.stream({ path }))
          for (const line of batch) outcomes.set(path, `a line of ${String(line).length} characters`);
      } catch (error) {
        outcomes.set(path, String(error));
      }
    };
    const following = [...sizes.keys()].map(follow);
    await eventually(() => expect(responses.size).toBe(sizes.size));
    for (const [path, size] of sizes) responses.get(path)?.write(`"${'x'.repeat(size - 1)}`);
    await eventually(() => expect(outcomes.size).toBe(1));
    expect([...outcomes.values()][0]).toContain('incomplete responses of more than 67108864 characters');
    for (const response of responses.values()) response.end('"\n');
    await Promise.all(following);
    expect([...outcomes.values()].filter((outcome) => outcome.startsWith('a line'))).toHaveLength(sizes.size - 1);
    expect(outcomes.get('/0')).toBe(`a line of ${mebi - 1} characters`);
  } finally {
    await client.close();
    server.closeAllConnections();
    server.close();
  }
});

test.each(['x', '\n'])(
  'a response in pieces of one byte (%j) ends with an error, before these fill the memory',
  async (byte) => {
    const server = createServer((request, response) => {
      const status = request.url === '/error' ? '500 No' : '200 OK';
      const { socket } = response;
      socket?.on('error', () => undefined);
      socket?.write(`HTTP/1.1 ${status}\r\nTransfer-Encoding: chunked\r\n\r\n${`1\r\n${byte}\r\n`.repeat(20_000)}`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = createClient(credentialsFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    try {
      const problem = 'the API server sent a response in too many pieces';
      await expect(client.request({ path: '/', timeout: 5_000 })).rejects.toThrow(problem);
      await expect(client.request({ path: '/error', timeout: 5_000 })).rejects.toThrow(problem);
      const follow = async (): Promise<void> => {
        for await (const _batch of client.stream({ path: '/', signal: AbortSignal.timeout(5_000) }));
      };
      await expect(follow()).rejects.toThrow(problem);
    } finally {
      await client.close();
      server.closeAllConnections();
      server.close();
    }
  },
);
