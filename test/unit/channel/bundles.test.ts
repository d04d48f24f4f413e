import { describe, expect, test } from '@jest/globals';
import {
  announceBundles,
  compact,
  fingerprintOfResource,
  hasAnnouncedBundles,
  prepareFingerprint,
} from '../../../src/channel/bundles.ts';
import { capabilities } from '../../../src/channel/capabilities.ts';
import type { ChannelResource, ToProxy, Transaction } from '../../../src/channel/messages.ts';
import { encodeLine, parseToProxy, ProtocolError } from '../../../src/channel/wire.ts';
import type { EndpointsConfig } from '../../../src/core/routing/config.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';

const text = 'x'.repeat(10_000);

function trusting(service: string, authorities: readonly string[] | 'system'): EndpointsConfig {
  return { ...endpointsConfig(service, 80), tls: { serverName: service, subjectAltNames: [], authorities } };
}

function transactionOf(...resources: readonly ChannelResource[]): Transaction {
  return {
    type: 'transaction',
    id: 1,
    upserts: resources.map((resource) => ({ digest: 'd', resource })),
    removals: [],
  };
}

describe('CA certificates', () => {
  const validated = listenerConfig('tls', { clientValidation: { mode: 'AllowValidOnly', authorities: [text] } });
  const message = transactionOf(
    ...Array.from({ length: 50 }, (_, index) => trusting(`s${index}`, [text])),
    trusting('other', [text, 'y']),
    trusting('public', 'system'),
    validated,
    listenerConfig('http'),
  );

  test('are in a message once, and all resources have them at the other end, as one list', () => {
    const line = encodeLine(compact(message));
    expect(line.length).toBeLessThan(3 * text.length + 60 * 300);
    const parsed = parseToProxy(line);
    expect(parsed).toEqual(message);
    const lists = (parsed as Transaction).upserts.flatMap(({ resource }) =>
      resource.kind === 'endpoints' && resource.tls !== undefined ? [resource.tls.authorities] : [],
    );
    expect(lists[49]).toBe(lists[0]);
  });

  test.each<ToProxy>([transactionOf(endpointsConfig('cart', 1)), { type: 'end', id: 1 }])(
    'where there are none, a message is unchanged',
    (plain) => {
      expect(compact(plain)).toBe(plain);
    },
  );

  test.each([[7], [-1], ['0'], [null], ['length']])(
    'a reference to a list that is not there is refused: %p',
    (bundle) => {
      const line = JSON.stringify({
        ...compact(transactionOf(trusting('s', [text]))),
        upserts: [{ digest: 'd', resource: trusting('s', []), bundle }],
      });
      expect(() => parseToProxy(line)).toThrow(ProtocolError);
    },
  );

  test('a list of something else is refused', () => {
    const line = JSON.stringify({ ...compact(transactionOf(trusting('s', [text]))), bundles: [[1]] });
    expect(() => parseToProxy(line)).toThrow(ProtocolError);
  });

  test('only a proxy that says so gets them once', () => {
    const hello = { type: 'hello', digests: {}, capabilities } as const;
    expect(hasAnnouncedBundles(hello)).toBe(false);
    expect(hasAnnouncedBundles(announceBundles(hello))).toBe(true);
    expect(announceBundles({ type: 'acknowledge', id: 1, problems: [] })).toEqual({
      type: 'acknowledge',
      id: 1,
      problems: [],
    });
  });

  test('are part of the fingerprint, and not of its bytes', () => {
    const one = fingerprintOfResource(trusting('s', [text]));
    expect(one.bytes).toBeLessThan(300);
    expect(fingerprintOfResource(trusting('s', [text]))).toEqual(one);
    expect(fingerprintOfResource(trusting('s', [`${text}y`])).digest).not.toBe(one.digest);
    expect(fingerprintOfResource(trusting('s', [text.slice(1), 'x'])).digest).not.toBe(one.digest);
  });
});

test('the fingerprint of a prepared resource is the same', () => {
  const addresses = Array.from({ length: 2_500 }, (_, number) => ({
    port: 80,
    host: `10.0.${number >> 8}.${number & 255}`,
  }));
  const resource = { ...trusting('s', ['text']), addresses };
  const expected = fingerprintOfResource({ ...resource });
  let steps = 0;
  for (const _step of prepareFingerprint(resource)) steps += 1;
  expect(steps).toBe(2);
  expect(fingerprintOfResource(resource)).toEqual(expected);
});
