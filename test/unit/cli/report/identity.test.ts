import { describe, expect, test } from '@jest/globals';
import type { Path } from '../../../../src/core/resources/path.ts';
import { identityOf } from '../../../../src/cli/report/identity.ts';

function identity(path: Path, json: unknown): string {
  return identityOf({ rule: 'a-rule', object: 'HTTPRoute shop/cart', path, json });
}

const slow = { timeouts: { request: '1s' }, backendRefs: [{ name: 'cart', port: 80 }] };
const fast = { timeouts: { request: '2s' } };

describe('the identity of a finding', () => {
  test('names rule, object and place; list items go by name or text', () => {
    expect(identity(['spec', 'listeners', 1, 'port'], { spec: { listeners: [{ name: 'a' }, { name: 'b' }] } })).toBe(
      'a-rule HTTPRoute shop/cart spec.listeners[name=b].port',
    );
    expect(identity(['spec', 'hostnames', 0], { spec: { hostnames: ['a.example'] } })).toBe(
      'a-rule HTTPRoute shop/cart spec.hostnames[a.example]',
    );
    expect(identity([], {})).toBe('a-rule HTTPRoute shop/cart');
    expect(identity(['metadata', 'annotations', 'a.b/c'], {})).toBe(
      'a-rule HTTPRoute shop/cart metadata.annotations["a.b/c"]',
    );
  });

  test('does not change with what stands before an item, nor with the order of its fields', () => {
    const { timeouts, backendRefs } = slow;
    const before = identity(['spec', 'rules', 0, 'timeouts'], { spec: { rules: [slow] } });
    expect(identity(['spec', 'rules', 1, 'timeouts'], { spec: { rules: [fast, { backendRefs, timeouts }] } })).toBe(
      before,
    );
  });

  test('changes with the item', () => {
    const path = ['spec', 'rules', 0, 'timeouts'];
    expect(identity(path, { spec: { rules: [slow] } })).not.toBe(identity(path, { spec: { rules: [fast] } }));
  });

  test('reads an item once for all findings about it', () => {
    let reads = 0;
    const rule = {
      get timeouts() {
        reads += 1;
        return {};
      },
    };
    for (let index = 0; index < 100; index += 1)
      identity(['spec', 'rules', 0, 'matches', index], { spec: { rules: [rule] } });
    expect(reads).toBe(1);
  });

  test('exists for places that do not', () => {
    expect(identity(['spec', 'rules', 7, 'name'], null)).toMatch(
      /^a-rule HTTPRoute shop\/cart spec\.rules\[[0-9a-f]{8}\]\.name$/,
    );
  });
});
