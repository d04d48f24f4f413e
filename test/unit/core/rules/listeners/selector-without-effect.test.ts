import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (namespaces: object): unknown => soundGateway({ allowedRoutes: { namespaces } });

describe('selector-without-effect', () => {
  test.each<[object]>([[{ from: 'Selector', selector: { matchLabels: { team: 'shop' } } }], [{ from: 'Same' }]])(
    '%j is fine',
    (value) => {
      expect(remarks('selector-without-effect', object(value))).toEqual([]);
    },
  );

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { from: 'All', selector: { matchLabels: { team: 'shop' } } },
      [
        'spec.listeners[0].allowedRoutes.namespaces.selector',
        'selector is ignored because from is All. Use from: Selector, or remove selector.',
      ],
    ],
    [
      { selector: {} },
      [
        'spec.listeners[0].allowedRoutes.namespaces.selector',
        'selector is ignored because from is Same. Use from: Selector, or remove selector.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('selector-without-effect', object(value))).toEqual(expected);
  });
});
