import { expect, test } from '@jest/globals';
import { ListenerIndex } from '../../../../../src/core/routing/decision/listener-index.ts';
import { listenerConfig } from '../../../../support/config.ts';

const named = (name: string, hostname?: string) => listenerConfig(name, hostname === undefined ? {} : { hostname });

test.each([
  ['shop.example.com', 'exact'],
  ['cart.example.com', 'wildcard'],
  ['a.b.example.com', 'wildcard'],
  ['a.deep.example.com', 'deeper'],
  ['deep.example.com', 'wildcard'],
  ['example.com', 'any'],
  ['xexample.com', 'any'],
  ['com', 'any'],
  ['10.0.0.1', 'any'],
  ['', 'any'],
])('%j is served by %s', (host, name) => {
  const index = new ListenerIndex();
  const listeners = [
    named('any'),
    named('wildcard', '*.example.com'),
    named('deeper', '*.deep.example.com'),
    named('exact', 'shop.example.com'),
  ];
  for (const listener of listeners) expect(index.add(listener)).toBeUndefined();
  expect(index.select(host)?.name).toBe(name);
});

test('without a listener for any host some are served by none', () => {
  const index = new ListenerIndex();
  expect(index.isEmpty).toBe(true);
  index.add(named('exact', 'shop.example.com'));
  expect(index.select('cart.example.com')).toBeUndefined();
  expect(index.select('')).toBeUndefined();
  expect(index.isEmpty).toBe(false);
});

test('a listener without a certificate keeps its hostname, and serves nobody', () => {
  const index = new ListenerIndex();
  const [bare, wildcard] = [
    listenerConfig('bare', { protocol: 'HTTPS', hostname: 'shop.example.com' }),
    listenerConfig('wildcard', { protocol: 'HTTPS', hostname: '*.example.com', certificates: ['infra/wild'] }),
  ];
  for (const listener of [bare, wildcard]) index.add(listener);
  expect(index.select('shop.example.com')).toBeUndefined();
  expect(index.listenerFor('shop.example.com')).toBe('no-listener');
  expect(index.listenerFor('shop.example.com', wildcard)).toBe('misdirected');
  expect(index.select('cart.example.com')).toBe(wildcard);
});

test('the first of two listeners for one hostname stays', () => {
  const index = new ListenerIndex();
  const [first, second] = [named('first', '*.example.com'), named('second', '*.example.com')];
  index.add(first);
  expect(index.add(second)).toBe(first);
  expect([index.has(first), index.has(second)]).toEqual([true, false]);
});

// To try each of the 16,000 suffixes took 0.3 s for each request.
test('thousands of hosts with thousands of labels are served by the longest wildcard', () => {
  const longest = `*.${'b.'.repeat(125)}com`;
  expect(longest).toHaveLength(255);
  const index = new ListenerIndex();
  for (const listener of [named('any'), named('wildcard', '*.com'), named('longest', longest)]) index.add(listener);
  for (let count = 0; count < 1_000; count += 1) {
    expect(index.select(`${count}${'.a'.repeat(16_000)}`)?.name).toBe('any');
    expect(index.select(`${count}${'.a'.repeat(16_000)}.com`)?.name).toBe('wildcard');
    expect(index.select(`${count}${'.a'.repeat(16_000)}${longest.slice(1)}`)?.name).toBe('longest');
  }
});
