import { describe, expect, test } from '@jest/globals';
import type { Bundle } from '../../../src/core/schema/availability.ts';
import { compareRules } from '../../../tools/compare-rules.ts';
import { officialBundles, type Crd, type OfficialBundle } from '../../../tools/official-crds.ts';
import { missingInput } from '../../support/missing-input.ts';

const bundle: Bundle = { minor: '1.7', channel: 'standard' };

function bundleWith(properties: unknown, kind = 'UDPRoute'): OfficialBundle {
  const crd: Crd = {
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'gateway.networking.k8s.io',
      scope: 'Namespaced',
      names: { kind, plural: 'routes' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { properties } } }],
    },
  };
  return { bundle, crds: [crd] };
}

describe('compareRules', () => {
  test('names a rule that nothing covers, with its text', () => {
    const { compared, differences } = compareRules(
      bundleWith({
        spec: { properties: { rules: { items: { 'x-kubernetes-validations': [{ rule: 'self.name != "x"' }] } } } },
      }),
    );
    expect(compared).toBe(1);
    expect(differences).toContainEqual(
      expect.stringMatching(
        /^v1\.7 standard UDPRoute v1 spec\.rules\[\]: nothing covers the rule [0-9a-f]{12}: self\.name != "x"$/,
      ),
    );
  });

  test('names a demand that no rule makes', () => {
    expect(compareRules(bundleWith({})).differences).toContain(
      'v1.7 standard UDPRoute v1 spec.rules[].backendRefs[]: no official rule demands service-port-missing',
    );
  });

  test('a rule is covered at its place, in whatever white space, and nowhere else', () => {
    const rule = {
      'x-kubernetes-validations': [
        { rule: "(size(self.group) == 0 &&\n self.kind == 'Service') ? has(self.port) : true" },
      ],
    };
    const right = compareRules(
      bundleWith({ spec: { properties: { rules: { items: { properties: { backendRefs: { items: rule } } } } } } }),
    );
    expect(right.differences.filter((line) => line.includes('UDPRoute v1 ') && line.includes('backendRefs'))).toEqual(
      [],
    );
    const wrong = compareRules(bundleWith({ spec: { properties: { rules: { items: rule } } } }));
    expect(wrong.differences.filter((line) => line.includes('UDPRoute v1 spec.rules'))).toEqual([
      expect.stringContaining('spec.rules[]: nothing covers the rule'),
      'v1.7 standard UDPRoute v1 spec.rules[].backendRefs[]: no official rule demands service-port-missing',
    ]);
  });
});

/** Where there is neither a module cache nor a network, there is nothing to compare with; the reason says so. */
function readOfficial(): { readonly bundles: readonly OfficialBundle[] } | { readonly reason: string } {
  try {
    return { bundles: officialBundles() };
  } catch (error) {
    return { reason: (error as Error).message };
  }
}

describe('our rules stand where the official CRDs have theirs', () => {
  const official = readOfficial();
  if ('reason' in official) {
    missingInput(official.reason);
    return;
  }
  test.each(official.bundles.map((one) => [one.bundle.minor, one.bundle.channel, one] as const))(
    'v%s %s',
    (_minor, _channel, one) => {
      expect(compareRules(one).differences).toEqual([]);
    },
  );
});
