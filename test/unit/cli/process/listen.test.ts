import { expect, test } from '@jest/globals';
import { listenEverywhere } from '../../../../src/cli/process/listen.ts';

/** A server that fails on some addresses, and says where it was asked to listen. */
function serverThatFails(code: string, ...hosts: readonly string[]) {
  const asked: string[] = [];
  return {
    asked,
    async listen({ host }: { readonly host: string }) {
      asked.push(host);
      if (hosts.includes(host)) throw Object.assign(new Error('listen'), { code });
      return '';
    },
    server: { address: () => ({ port: 4711, address: '', family: '' }) },
  };
}

test('listens on all addresses of both families', async () => {
  const server = serverThatFails('');
  await expect(listenEverywhere(server, 0)).resolves.toBe(4711);
  expect(server.asked).toEqual(['::']);
});

test.each(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])('without IPv6 (%s), on all addresses of IPv4', async (code) => {
  const server = serverThatFails(code, '::');
  await expect(listenEverywhere(server, 0)).resolves.toBe(4711);
  expect(server.asked).toEqual(['::', '0.0.0.0']);
});

test('a port that is taken is an error', async () => {
  const server = serverThatFails('EADDRINUSE', '::');
  await expect(listenEverywhere(server, 443)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(server.asked).toEqual(['::']);
});
