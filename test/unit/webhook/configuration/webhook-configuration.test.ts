import { describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  failurePolicyOf,
  mayBlock,
  parseConfiguration,
  trustedByAll,
} from '../../../../src/webhook/configuration/webhook-configuration.ts';

const pem = (body: string): string => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
const encoded = (...bodies: readonly string[]): string => Buffer.from(bodies.map(pem).join('')).toString('base64');

function configuration(...webhooks: readonly object[]) {
  const parsed = parseConfiguration({ metadata: { name: 'c', uid: 'u', resourceVersion: '7' }, webhooks });
  if (parsed === undefined) throw new Error('no configuration');
  return parsed;
}

describe('parseConfiguration', () => {
  test('reads what is looked after', () => {
    const clientConfig = { caBundle: encoded('AAAA', 'BBBB'), service: { namespace: 'n', name: 's', port: 443 } };
    expect(configuration({ name: 'w', clientConfig, failurePolicy: 'Ignore' })).toEqual({
      name: 'c',
      uid: 'u',
      version: '7',
      webhooks: [
        {
          name: 'w',
          trusted: [pem('AAAA'), pem('BBBB')],
          failurePolicy: 'Ignore',
          service: { namespace: 'n', name: 's' },
        },
      ],
    });
  });

  test('takes a failurePolicy that is left out for Fail, and a URL for no Service', () => {
    expect(configuration({ name: 'w', clientConfig: { url: 'https://x' } }).webhooks[0]).toMatchObject({
      failurePolicy: 'Fail',
      service: undefined,
      trusted: [],
    });
  });

  test('is nothing without webhooks', () => {
    expect(parseConfiguration({ metadata: { name: 'c' } })).toBeUndefined();
    expect(parseConfiguration({ metadata: { name: 'c' }, webhooks: [] })).toBeUndefined();
  });

  test('never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) =>
        expect(() => parseConfiguration({ metadata: json, webhooks: [json] })).not.toThrow(),
      ),
    );
    fc.assert(fc.property(fc.jsonValue(), (json) => expect(() => parseConfiguration(json)).not.toThrow()));
  });
});

describe('several webhooks', () => {
  const both = configuration(
    { name: '1', clientConfig: { caBundle: encoded('AAAA', 'BBBB') }, failurePolicy: 'Fail' },
    { name: '2', clientConfig: { caBundle: encoded('BBBB', 'CCCC') }, failurePolicy: 'Ignore' },
  );

  test('trust together only what each of them trusts', () => {
    expect(trustedByAll(both)).toEqual([pem('BBBB')]);
    expect(trustedByAll(configuration({ clientConfig: { caBundle: encoded('AAAA') } }, {}))).toEqual([]);
  });

  test('are compared without a search for each certificate', () => {
    const searched = jest.spyOn(Array.prototype, 'includes');
    const many = { clientConfig: { caBundle: encoded(...Array.from({ length: 500 }, (_, index) => `A${index}`)) } };
    expect(trustedByAll(configuration(many, many))).toHaveLength(500);
    expect(searched).not.toHaveBeenCalled();
    searched.mockRestore();
  });

  test('fail only if all do, and may block as soon as one does', () => {
    expect(failurePolicyOf(both)).toBe('Ignore');
    expect(mayBlock(both)).toBe(true);
    expect(failurePolicyOf(configuration({ failurePolicy: 'Fail' }))).toBe('Fail');
    expect(mayBlock(configuration({ failurePolicy: 'Ignore' }))).toBe(false);
  });
});
