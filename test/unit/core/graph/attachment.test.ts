import { describe, expect, test } from '@jest/globals';
import { attachments } from '../../../../src/core/graph/attachment.ts';
import { evaluate, ourClass } from '../../../support/evaluation.ts';
import { gatewayWith, httpRoute } from '../../../support/rules.ts';

const gateway = gatewayWith(
  { name: 'web', port: 80, protocol: 'HTTP' },
  { name: 'shop', port: 81, protocol: 'HTTP', hostname: 'shop.example.com' },
);

function outcomes(spec: object): readonly unknown[] {
  const { kernel } = evaluate([httpRoute(spec), gateway, ourClass]);
  return kernel.read.query(attachments, 'HTTPRoute', 'shop', 'cart').map(({ outcome }) => outcome);
}

describe('attachments', () => {
  test('name the listeners, each with the hostnames that it serves', () => {
    expect(
      outcomes({ parentRefs: [{ name: 'front' }], hostnames: ['shop.example.com', 'example.org', 'SHOP.example.com'] }),
    ).toEqual([
      {
        type: 'attached',
        listeners: [
          { name: 'web', hostnames: ['shop.example.com', 'example.org'] },
          { name: 'shop', hostnames: ['shop.example.com'] },
        ],
      },
    ]);
  });

  test.each<[string, object]>([
    ['hostnames', { parentRefs: [{ name: 'front' }], hostnames: 'shop.example.com' }],
    ['one hostname', { parentRefs: [{ name: 'front' }], hostnames: ['shop.example.com', 5] }],
    ['sectionName', { parentRefs: [{ name: 'front', sectionName: 5 }] }],
    ['port', { parentRefs: [{ name: 'front', port: '80' }] }],
  ])('do not come about where the %s cannot be read: nothing may get wider', (_, spec) => {
    expect(outcomes(spec)).toEqual([{ type: 'unreadable' }]);
  });

  test('leave to others what is theirs', () => {
    const parentRefs = [{ group: '', kind: 'Service', name: 'front' }, { name: 'gone' }];
    expect(outcomes({ parentRefs })).toEqual([{ type: 'foreign' }, { type: 'absent' }]);
  });
});
