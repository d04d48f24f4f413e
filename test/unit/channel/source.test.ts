import { describe, expect, test } from '@jest/globals';
import { digestOf } from '../../../src/channel/digest.ts';
import type { ToProxy } from '../../../src/channel/messages.ts';
import { ConfigurationSource } from '../../../src/channel/source.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { routeConfig } from '../../support/routes.ts';

function session(source: ConfigurationSource, name = 'proxy-0') {
  const sent: ToProxy[] = [];
  return { sent, peer: source.connect(name, (message) => sent.push(message)) };
}

describe('a source', () => {
  test('sends nothing before hello', () => {
    const source = new ConfigurationSource();
    const { sent, peer } = session(source);
    source.publish([listenerConfig('web')], []);
    expect(sent).toEqual([]);
    void peer.receive({ type: 'hello', digests: {} });
    expect(sent.map(({ type, id }) => [type, id])).toEqual([
      ['transaction', 1],
      ['end', 1],
    ]);
  });

  test('answers a hello that lacks nothing with the end mark alone', () => {
    const source = new ConfigurationSource();
    const web = listenerConfig('web');
    source.publish([web], []);
    const { sent, peer } = session(source);
    void peer.receive({ type: 'hello', digests: { [web.key]: digestOf(web) } });
    expect(sent).toEqual([{ type: 'end', id: 1 }]);
  });

  test('removes what a proxy holds and nobody knows, users first', () => {
    const source = new ConfigurationSource();
    const { sent, peer } = session(source);
    const stale = ['endpoints/a/b/80', 'listener/a/b/c', 'novelty/a', 'route/a/b', 'nonsense'];
    void peer.receive({ type: 'hello', digests: Object.fromEntries(stale.map((key) => [key, 'x'])) });
    expect(sent[0]).toMatchObject({
      removals: ['novelty/a', 'nonsense', 'route/a/b', 'listener/a/b/c', 'endpoints/a/b/80'],
    });
  });

  test('a key both removed and upserted stays; of two upserts the last counts', () => {
    const source = new ConfigurationSource();
    const { sent, peer } = session(source);
    void peer.receive({ type: 'hello', digests: {} });
    const [one, two] = [endpointsConfig('cart', 1), endpointsConfig('cart', 2)];
    source.publish([one, two], [one.key]);
    expect(sent.at(-1)).toEqual({
      type: 'transaction',
      id: 1,
      upserts: [{ digest: digestOf(two), resource: two }],
      removals: [],
    });
    expect(source.publish([one, two], [one.key])).toBe(1);
  });

  test('believes no acknowledgement of what it did not send, and none that goes back', () => {
    const source = new ConfigurationSource();
    const { peer } = session(source);
    void peer.receive({ type: 'acknowledge', id: 0, problems: [] });
    void peer.receive({ type: 'hello', digests: {} });
    source.publish([listenerConfig('web')], []);
    void peer.receive({ type: 'acknowledge', id: 9, problems: [] });
    expect(source.states()).toEqual([{ name: 'proxy-0', sent: 1, acknowledged: undefined, problems: new Map() }]);
    void peer.receive({ type: 'acknowledge', id: 1, problems: [] });
    void peer.receive({ type: 'acknowledge', id: 0, problems: [{ key: 'k', message: 'm' }] });
    expect(source.states()).toEqual([{ name: 'proxy-0', sent: 1, acknowledged: 1, problems: new Map() }]);
  });

  test('tells who lags behind', () => {
    const source = new ConfigurationSource();
    const quick = session(source, 'quick');
    const slow = session(source, 'slow');
    for (const { peer } of [quick, slow]) void peer.receive({ type: 'hello', digests: {} });
    const id = source.publish([routeConfig('shop/cart')], []);
    void quick.peer.receive({ type: 'acknowledge', id, problems: [] });
    expect(source.laggards(id).map(({ name }) => name)).toEqual(['slow']);
    slow.peer.close();
    void slow.peer.receive({ type: 'acknowledge', id, problems: [] });
    expect(source.states().map(({ name }) => name)).toEqual(['quick']);
    expect(source.laggards(id)).toEqual([]);
  });
});
