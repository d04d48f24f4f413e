import { describe, expect, test } from '@jest/globals';
import type { Bundle } from '../../../src/core/schema/availability.ts';
import { compileToJsonSchema, versionsIn } from '../../../src/core/schema/compile.ts';
import { schemaTables } from '../../../src/core/schema/kinds.ts';
import type { KindTable } from '../../../src/core/schema/tables/table.ts';
import { compareBundle } from '../../../tools/compare-schema.ts';
import { officialBundles, type Crd, type OfficialBundle } from '../../../tools/official-crds.ts';
import { missingInput } from '../../support/missing-input.ts';

const bundle: Bundle = { minor: '1.7', channel: 'standard' };

/** CRDs as they would be if the tables were right, with prose and rules as official ones have. */
function crdsOf(tables: readonly KindTable[]): readonly Crd[] {
  return tables
    .filter((table) => table.group !== '' && versionsIn(table, bundle).length > 0)
    .map((table) => ({
      kind: 'CustomResourceDefinition',
      spec: {
        group: table.group,
        scope: table.namespaced ? 'Namespaced' : 'Cluster',
        names: { kind: table.kind, plural: table.plural },
        versions: versionsIn(table, bundle).map((version) => ({
          ...version,
          schema: {
            openAPIV3Schema: {
              description: 'prose',
              'x-kubernetes-validations': [],
              ...compileToJsonSchema(table, version.name, bundle),
            },
          },
        })),
      },
    }));
}

const right = crdsOf(
  Object.values<KindTable>(schemaTables).filter(({ group }) => group.startsWith('gateway.networking.')),
);

describe('compareBundle', () => {
  test('finds nothing where nothing differs', () => {
    expect(compareBundle({ bundle, crds: right })).toEqual({ compared: 19, differences: [] });
  });

  const official = (kind: string, edit: (json: string) => string): OfficialBundle => ({
    bundle,
    crds: right.map((crd) => (crd.spec.names.kind === kind ? (JSON.parse(edit(JSON.stringify(crd))) as Crd) : crd)),
  });

  test.each([
    [
      'another bound',
      official('TCPRoute', (json) => json.replace('"maxItems":32', '"maxItems":33')),
      'v1.7 standard TCPRoute v1.properties.spec.properties.parentRefs.maxItems\n  ours:     32\n  official: 33',
    ],
    [
      'another default',
      official('GatewayClass', (json) => json.replace('"reason":"Pending"', '"reason":"Waiting"')),
      'v1.7 standard GatewayClass v1.properties.status.default.conditions',
    ],
    [
      'a field more',
      official('UDPRoute', (json) => json.replace('"properties":{', '"properties":{"description":{"type":"string"},')),
      'v1.7 standard UDPRoute v1.properties.description\n  ours:     undefined\n  official: {"type":"string"}',
    ],
    [
      'an enum value of another type',
      official('HTTPRoute', (json) => json.replace('[301,', '["301",')),
      'enum\n  ours:     ["301","302","303","307","308"]',
    ],
    [
      'another scope',
      official('TLSRoute', (json) => json.replace('"Namespaced"', '"Cluster"')),
      'v1.7 standard TLSRoute names.scope',
    ],
    [
      'a version more',
      official('ListenerSet', (json) =>
        json.replace('"versions":[', '"versions":[{"name":"v2","served":true,"storage":false,"schema":{}},'),
      ),
      'v1.7 standard ListenerSet versions',
    ],
    ['a kind less', { bundle, crds: right.slice(1) }, 'v1.7 standard GatewayClass versions\n  ours:     [{"name":"v1"'],
    [
      'a kind more',
      official('ListenerSet', (json) => json.replace('"kind":"ListenerSet"', '"kind":"ListenerList"')),
      'v1.7 standard gateway.networking.k8s.io ListenerList: there is no table for it',
    ],
  ])('finds %s', (_name, planted, expected) => {
    expect(compareBundle(planted).differences.join('\n')).toContain(expected);
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

describe('the tables say what the official CRDs say', () => {
  const official = readOfficial();
  if ('reason' in official) {
    missingInput(official.reason);
    return;
  }
  test.each(official.bundles.map((bundle) => [`v${bundle.bundle.minor} ${bundle.bundle.channel}`, bundle] as const))(
    '%s',
    (_name, bundle) => {
      const { compared, differences } = compareBundle(bundle);
      expect(differences).toEqual([]);
      expect(compared).toBeGreaterThan(7);
    },
  );
});
