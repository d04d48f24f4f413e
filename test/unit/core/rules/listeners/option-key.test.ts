import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (options: object): unknown =>
  soundGateway({ port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cart' }], options } });

describe('option-key', () => {
  test.each<[object]>([[{ 'example.com/min-version': '1.3' }]])('%j is fine', (value) => {
    expect(remarks('option-key', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { 'min-version': '1.3' },
      [
        'spec.listeners[0].tls.options.min-version',
        'Invalid option key "min-version": keys without a domain prefix are reserved. Use the key that your implementation documents, for example example.com/min-version.',
      ],
    ],
    [
      { 'Example.com/min-version': '1.3' },
      [
        'spec.listeners[0].tls.options["Example.com/min-version"]',
        'Invalid option key "Example.com/min-version": keys without a domain prefix are reserved. Use the key that your implementation documents, for example example.com/min-version.',
      ],
    ],
    [
      { 'example.com/': '' },
      [
        'spec.listeners[0].tls.options["example.com/"]',
        'Invalid option key "example.com/": keys without a domain prefix are reserved. Use the key that your implementation documents, for example example.com/min-version.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('option-key', object(value))).toEqual(expected);
  });
});
