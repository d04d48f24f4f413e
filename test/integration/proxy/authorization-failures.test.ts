import { afterEach, describe, expect, test } from '@jest/globals';
import type { AuthorizationFilter, ConfigResource } from '../../../src/core/routing/config.ts';
import { authorizedBy, startApp, startAuthorized, startSilent } from '../../support/authorization.ts';
import type { Setup } from '../../support/authorization.ts';
import { closeBackends, refusingPort, startCanned } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeProxies, openRaw, send } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

describe('without a valid answer the backend receives nothing', () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ['no bytes', '', 502],
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', 502],
    ['a cut head', 'HTTP/1.1 200 OK\r\ncontent-le', 502],
    ['a cut body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 502],
    ['a cut chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab', 502],
    ['a cut denial', 'HTTP/1.1 403 Forbidden\r\ncontent-length: 10\r\n\r\nabc', 502],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 502],
    ['another coding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n', 502],
    ['a status that is none', 'HTTP/1.1 200200 OK\r\ncontent-length: 0\r\n\r\n', 502],
    ['a status out of range', 'HTTP/1.1 700 Fine\r\ncontent-length: 0\r\n\r\n', 502],
    ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 502],
    ['huge headers', `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(40_000)}\r\ncontent-length: 0\r\n\r\n`, 502],
    [
      'many interim responses',
      `${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(40)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`,
      502,
    ],
    ['a control character in a header', 'HTTP/1.1 200 OK\r\nx-a: \x01\r\ncontent-length: 0\r\n\r\n', 502],
    ['a huge body', `HTTP/1.1 200 OK\r\ncontent-length: 300000\r\n\r\n${'a'.repeat(300_000)}`, 502],
    ['a huge denial', `HTTP/1.1 403 Forbidden\r\ncontent-length: 300000\r\n\r\n${'a'.repeat(300_000)}`, 502],
  ];

  test.each(cases)('%s', async (_name, answer, status) => {
    const [server, app] = [await startCanned(answer), await startApp()];
    const { port, log, proxy } = await startAuthorized(app.port, server.port);
    expect((await send(port, '/', { method: 'POST', body: 'x' })).status).toBe(status);
    expect(app.reached).toEqual([]);
    await eventually(() => expect(log).toMatchObject([{ status, reason: 'authorization-failed' }]));
    expect(proxy.counters().authorizations).toEqual({ permitted: 0, denied: 0, failed: 1 });
  });

  test('no connection, no endpoints, no such Service, a reference that is invalid, a policy that is', async () => {
    const app = await startApp();
    const status = async (filter: AuthorizationFilter, ...resources: readonly ConfigResource[]): Promise<number> => {
      const { port } = await startAuthorized(app.port, undefined, { filters: [filter], resources });
      return (await send(port, '/')).status;
    };
    expect(await status(authorizedBy('auth'), endpointsConfig('auth', await refusingPort()))).toBe(503);
    expect(await status(authorizedBy('auth'), endpointsConfig('auth'))).toBe(503);
    expect(await status(authorizedBy('auth'))).toBe(503);
    expect(await status(authorizedBy('auth', { target: { type: 'invalid', reason: 'notPermitted' } }))).toBe(500);
    expect(
      await status(authorizedBy('auth'), { ...endpointsConfig('auth', 1), failure: 'the BackendTLSPolicy is invalid' }),
    ).toBe(500);
    expect(app.reached).toEqual([]);
  });

  test('a server that is slow: by its own limit, that of the rule for backends, and that of the whole request', async () => {
    const [server, app] = [await startSilent(), await startApp()];
    const reasonOf = async (setup: Setup): Promise<unknown> => {
      const { port, log } = await startAuthorized(app.port, server.port, setup);
      expect((await send(port, '/')).status).toBe(504);
      await eventually(() => expect(log).toHaveLength(1));
      return log[0]?.reason;
    };
    expect(await reasonOf({ options: { limits: { authorizationTimeout: 50 } } })).toBe('authorization-timeout');
    expect(await reasonOf({ parts: { backendRequestTimeout: 50 } })).toBe('authorization-timeout');
    expect(await reasonOf({ parts: { requestTimeout: 50 } })).toBe('request-timeout');
    expect(app.reached).toEqual([]);
    await eventually(() => expect(server.openConnections()).toBe(0));
  });

  test('a client that leaves takes the question with it', async () => {
    const [server, app] = [await startSilent(), await startApp()];
    const { port, proxy, log } = await startAuthorized(app.port, server.port);
    const socket = openRaw(port);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(server.openConnections()).toBe(1));
    socket.destroy();
    await eventually(() => expect(log).toMatchObject([{ reason: 'client-aborted' }]));
    await eventually(() => expect(server.openConnections()).toBe(0));
    expect([proxy.counters().openRequests, app.reached]).toEqual([0, []]);
  });
});
