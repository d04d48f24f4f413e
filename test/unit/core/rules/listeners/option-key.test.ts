import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (options: object): unknown => soundGateway({ port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cart' }], options } });

describe('option-key', () => {
  test.each<[object]>([
    [{ 'example.com/min-version': '1.3' }],
  ])('%j is fine', (value) => {
    expect(remarks('option-key', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ 'min-version': '1.3' }, [ 'spec.listeners[0].tls.options.min-version', 'The option "min-version" has no domain before it; such keys are reserved, so no implementation knows it. Write the key as your implementation documents it, e.g. example.com/min-version.' ]],
    [{ 'Example.com/min-version': '1.3' }, [ 'spec.listeners[0].tls.options["Example.com/min-version"]', 'The option "Example.com/min-version" has no domain before it; such keys are reserved, so no implementation knows it. Write the key as your implementation documents it, e.g. example.com/min-version.' ]],
    [{ 'example.com/': '' }, [ 'spec.listeners[0].tls.options["example.com/"]', 'The option "example.com/" has no domain before it; such keys are reserved, so no implementation knows it. Write the key as your implementation documents it, e.g. example.com/min-version.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('option-key', object(value))).toEqual(expected);
  });
});
