import { expect, test } from '@jest/globals';
import { evaluate } from '../../../support/evaluation.ts';
import { decide, platform, requestOf, rule } from './requests.ts';

const names = Array.from({ length: 16 }, (_, index) => `x-${index}`);
const contradictory = {
  ...rule,
  filters: [
    {
      type: 'RequestHeaderModifier',
      requestHeaderModifier: { set: names.map((name) => ({ name, value: 'a' })), remove: names },
    },
  ],
};

// The newest bundle does not serve this version.
test.each([
  ['an object with some findings is judged by the newest bundle as well', 2, 1],
  ['an object with hundreds of findings is not, because they must be fixed first', 13, 0],
])('%s', (_, broken, later) => {
  const route = {
    apiVersion: 'gateway.networking.k8s.io/v1alpha2',
    kind: 'GRPCRoute',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { parentRefs: [{ name: 'front' }], rules: Array.from({ length: broken }, () => contradictory) },
  };
  const policy = { bundle: { minor: '1.0', channel: 'experimental' } } as const;
  const { findings } = decide(evaluate(platform), requestOf({ object: route }), { policy });
  expect(findings.filter((found) => found.rule === 'header-acted-on-twice')).toHaveLength(16 * broken);
  expect(findings.filter((found) => found.rule === 'refused-later')).toHaveLength(later);
});
