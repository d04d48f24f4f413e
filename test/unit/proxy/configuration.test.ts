import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Configuration } from '../../../src/proxy/configuration.ts';
import { EndpointRegistry } from '../../../src/proxy/upstream/endpoints.ts';
import { listenerConfig } from '../../support/config.ts';
import { layer4Route } from '../../support/layer4.ts';
import { routeConfig, routeRequest } from '../../support/routes.ts';

const listener = listenerConfig('web').key;

function hostOf(number: number): string {
  return `h${number}.example`;
}

function routes(count: number) {
  return Array.from({ length: count }, (_, number) =>
    routeConfig(`shop/${number}`, { attachments: [{ listener, hostnames: [hostOf(number)] }] }),
  );
}

describe('a configuration', () => {
  const lookUp = (configuration: Configuration, number: number) =>
    configuration.table.match(listener, routeRequest(`http://${hostOf(number)}/`));

  test('is the former one until a change that was prepared is applied', async () => {
    const configuration = new Configuration(new EndpointRegistry(() => {}));
    const prepared = await configuration.prepare({ upserts: routes(2), removals: [] });
    expect(lookUp(configuration, 1)).toBeUndefined();
    configuration.apply(prepared);
    const matched = lookUp(configuration, 1);
    expect(matched?.route.key).toBe('route/shop/1');
    expect(matched && configuration.ruleOf(matched)).toBeDefined();
    configuration.apply(await configuration.prepare({ upserts: [], removals: ['route/shop/1'] }));
    expect([lookUp(configuration, 0)?.route.key, lookUp(configuration, 1)]).toEqual(['route/shop/0', undefined]);
  });

  test('is changed at once: the entries of routes are added before, and removed afterwards', async () => {
    const configuration = new Configuration(new EndpointRegistry(() => {}));
    let looks = 0;
    const attachments = () => {
      looks += 1;
      return [{ listener, hostnames: [hostOf(0)] }];
    };
    const versions = [1, 2].map((generation) => [
      Object.defineProperty(routeConfig('shop/0', { generation }), 'attachments', { get: attachments }),
      Object.defineProperty(layer4Route('TLSRoute', listenerConfig('tls')), 'attachments', { get: attachments }),
    ]);
    for (const upserts of [...versions, []]) {
      const removals = upserts.length > 0 ? [] : (versions[0]?.map(({ key }) => key) ?? []);
      const prepared = await configuration.prepare({ upserts, removals });
      looks = 0;
      configuration.apply(prepared);
      expect(looks).toBe(0);
      await configuration.sweep();
    }
    expect(configuration.table.isEmpty).toBe(true);
  });

  test('keeps nothing of a change that is discarded', async () => {
    const configuration = new Configuration(new EndpointRegistry(() => {}));
    configuration.discard(await configuration.prepare({ upserts: routes(2), removals: [] }));
    await configuration.sweep();
    expect(configuration.table.isEmpty).toBe(true);
  });

  test('leaves time for requests while a large change is prepared', async () => {
    const configuration = new Configuration(new EndpointRegistry(() => {}));
    const order: string[] = [];
    const preparing = configuration
      .prepare({ upserts: routes(5_000), removals: [] })
      .then(() => order.push('prepared'));
    await turn();
    order.push('answered');
    await preparing;
    expect(order).toEqual(['answered', 'prepared']);
  });
});
