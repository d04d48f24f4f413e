import { expect, test } from '@jest/globals';
import { listPages, type ApiClient } from '../../../src/kubernetes/index.ts';
import { configMaps } from '../../support/kubernetes.ts';

/** A client of an API server that always sends another empty page. */
function endless(tokenOf: (page: number) => string): { readonly client: ApiClient; readonly pages: () => number } {
  let page = 0;
  const client: ApiClient = {
    namespace: undefined,
    request() {
      page += 1;
      // A list without a limit would never end.
      if (page > 20_000) throw new Error('too many requests');
      return Promise.resolve({ metadata: { resourceVersion: '1', continue: tokenOf(page) }, items: [] });
    },
    stream() {
      throw new Error('not used');
    },
    close: () => Promise.resolve(),
  };
  return { client, pages: () => page };
}

test.each([
  ['at the same place', () => 'again', 2],
  ['at other places', (page: number) => `page-${page}`, 10_000],
] as const)('a list that continues %s without end is given up', async (_name, tokenOf, requests) => {
  const { client, pages } = endless(tokenOf);
  const read = async (): Promise<void> => {
    for await (const _page of listPages(client, { type: configMaps }, new AbortController().signal));
  };
  await expect(read()).rejects.toThrow('the API server sent a list without an end');
  expect(pages()).toBe(requests);
});

test('a list with a version that no path has room for is not valid', async () => {
  const client: ApiClient = {
    ...endless(() => '').client,
    request: () => Promise.resolve({ metadata: { resourceVersion: '1'.repeat(1_025) }, items: [] }),
  };
  const pages = listPages(client, { type: configMaps }, new AbortController().signal);
  await expect(pages.next()).rejects.toThrow('a response that is not a valid list');
});
