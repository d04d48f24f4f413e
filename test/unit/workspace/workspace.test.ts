import { describe, expect, test } from '@jest/globals';
import { filesOnly, policyOf } from '../../../src/cli/settings.ts';
import { Workspace } from '../../../src/workspace/workspace.ts';
import { readSettings } from '../../../src/core/admission/read-settings.ts';
import { hasHostnamePolicies } from '../../../src/core/graph/matches/hostname-policies.ts';
import { objectCell, readObject } from '../../../src/core/graph/inputs.ts';
import { parseDocuments } from '../../../src/files/parse.ts';
import type { SourceDocument } from '../../../src/files/document.ts';

const bundle = { minor: '1.7', channel: 'standard' } as const;

function workspace(): Workspace {
  return new Workspace(filesOnly(bundle), policyOf('standard', bundle), []);
}

function documentsOf(text: string, file = 'a.yaml'): readonly SourceDocument[] {
  return parseDocuments(text, file).documents;
}

function route(path: string): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: cart, namespace: shop }
spec: { rules: [{ matches: [{ path: { value: ${path} } }] }] }
`;
}

function generationOf(space: Workspace): number | undefined {
  return space.kernel.read.input(objectCell, 'HTTPRoute', 'shop', 'cart')?.meta.generation;
}

describe('workspace', () => {
  test('counts changes of an object as its generation', () => {
    const space = workspace();
    space.update(documentsOf(route('/one')));
    expect(generationOf(space)).toBe(1);
    space.update(documentsOf(route('/two')));
    expect(generationOf(space)).toBe(2);
    space.update(documentsOf(`# a comment only\n${route('/two')}`));
    expect(generationOf(space)).toBe(2);
  });

  test('keeps the generation that a file brings along', () => {
    const space = workspace();
    space.update(documentsOf(route('/one').replace('namespace: shop', 'namespace: shop, generation: 7')));
    expect(generationOf(space)).toBe(7);
  });

  test('reads only the objects of a changed file again that have changed', () => {
    const space = workspace();
    const [cart, other] = [route('/one'), route('/one').replace('cart', 'other')];
    space.update(documentsOf(`${cart}---${other}`));
    const before = space.objects().map(({ candidate }) => candidate.resource);
    space.update(documentsOf(`# a comment\n${cart}---${other.replace('/one', '/two')}`));
    const after = space.objects();
    expect(after.map(({ candidate }, index) => candidate.resource === before[index])).toEqual([true, false]);
    expect(after[0]?.document.line).toBe(3);
  });

  test('forgets what the files no longer hold', () => {
    const space = workspace();
    space.update(documentsOf(route('/one')));
    space.update([]);
    expect(generationOf(space)).toBeUndefined();
    expect(space.objects()).toEqual([]);
  });

  test('the work for documents of one object grows with their number, not with its square', () => {
    const space = workspace();
    let reads = 0;
    const documents = documentsOf(Array.from({ length: 2_000 }, () => route('/one')).join('---')).map(
      (document): SourceDocument => ({
        ...document,
        get file() {
          reads += 1;
          return document.file;
        },
      }),
    );
    space.update(documents);
    expect(space.copies()).toHaveLength(1_999);
    space.update(documents.slice(1_000));
    expect(space.copies()).toHaveLength(999);
    expect(space.objects().map(({ document }) => document.index)).toEqual([1_000]);
    expect(reads).toBeLessThan(50 * documents.length);
  });

  test('the first of two documents with one identity counts, until it goes', () => {
    const space = workspace();
    const first = documentsOf(route('/first'), 'a.yaml');
    const second = documentsOf(route('/second'), 'b.yaml');
    space.update([...first, ...second]);
    expect(space.objects().map(({ document }) => document.file)).toEqual(['a.yaml']);
    expect(space.remarks()).toEqual([]);
    expect(
      space.copies().map(({ document, original, isSame }) => [document.file, original.document.file, isSame]),
    ).toEqual([['b.yaml', 'a.yaml', false]]);
    space.update(second);
    expect(space.objects().map(({ document }) => document.file)).toEqual(['b.yaml']);
    expect(space.copies()).toEqual([]);
  });

  test('says what takes no part', () => {
    const space = workspace();
    space.update(
      documentsOf(`
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XMesh
metadata: { name: mesh }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: cart }
---
kind: HTTPRoute
---
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [cart.yaml]
---
apiVersion: v2
name: a-chart
---
metadata: { name: cart }
spec: {}
`),
    );
    expect(space.remarks().map(({ type }) => type)).toEqual([
      'unserved',
      'foreign',
      'invalid',
      'foreign',
      'stray',
      'invalid',
    ]);
  });

  test('judges the structure of kinds that take no part', () => {
    const experimental = { minor: '1.7', channel: 'experimental' } as const;
    const space = new Workspace(filesOnly(experimental), policyOf('standard', experimental), []);
    space.update(
      documentsOf(`
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XMesh
metadata: { name: mesh }
spec: { controllerName: 5 }
`),
    );
    expect(
      space
        .unserved()
        .flatMap(({ findings }) => findings)
        .map(({ rule, path }) => [rule, path.join('.')]),
    ).toEqual([
      ['schema', 'spec.controllerName'],
      ['unserved-kind', 'kind'],
    ]);
    expect(space.size).toBe(1);
  });

  test('places findings where the file stands now', () => {
    const space = workspace();
    const bad = route('/one').replace('matches:', 'timeouts: { request: 5x }, matches:');
    space.update(documentsOf(bad));
    const moved = documentsOf(`# one line more\n${bad}`);
    space.update(moved);
    const [object] = space.objects();
    if (object === undefined) throw new Error('the route is missing');
    const finding = space.judge(object).find(({ rule }) => rule === 'duration-form');
    expect(finding === undefined ? undefined : object.document.locate(finding.path).line).toBe(6);
  });

  test('judges with settings, by namespace and label', () => {
    const read = readSettings({
      effects: { 'path-syntax': 'record' },
      namespaces: [{ names: ['strict'], profile: 'strict' }],
      exemptions: { namespaces: ['exempt'] },
      profileLabel: 'honor',
      hostnamePolicies: [{ name: 'shop', hostnames: ['a.example.com'], namespaces: { names: ['shop'] } }],
    });
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const space = new Workspace(filesOnly(bundle), policyOf('standard', bundle), [], {
      settings: read.settings,
      today: '2026-11-23',
    });
    const inNamespace = (namespace: string) => route('/a//b').replace('namespace: shop', `namespace: ${namespace}`);
    const labelled = `
apiVersion: v1
kind: Namespace
metadata: { name: labelled, labels: { sallyport.dev/profile: audit } }
`;
    space.update(documentsOf([...['shop', 'strict', 'exempt', 'labelled'].map(inNamespace), labelled].join('---')));
    const effects = space
      .objects()
      .filter(({ candidate }) => candidate.resource.kind === 'HTTPRoute')
      .map((object) => [
        object.candidate.resource.ref.namespace,
        space.judge(object).find(({ rule }) => rule === 'path-syntax')?.effect,
      ]);
    expect(effects).toEqual([
      ['shop', 'record'],
      ['strict', 'deny'],
      ['exempt', undefined],
      ['labelled', 'record'],
    ]);
    expect(space.kernel.read.query(hasHostnamePolicies)).toBe(true);
  });

  describe('judges each kind by the bundle of its own CRD', () => {
    const older = { minor: '1.0', channel: 'standard' } as const;
    const installation = { ...filesOnly(bundle), bundles: { ...filesOnly(bundle).bundles, HTTPRoute: older } };
    const documents = documentsOf(
      ['HTTPRoute', 'GRPCRoute']
        .map(
          (kind) => `
apiVersion: gateway.networking.k8s.io/v1
kind: ${kind}
metadata: { name: cart, namespace: shop }
spec: { rules: [{ name: all, backendRefs: [] }], hostnames: [UPPER.example.com] }
`,
        )
        .join('---'),
    );
    const effectsIn = (space: Workspace, rule: string, from = documents): object => {
      space.update(from);
      return Object.fromEntries(
        space
          .objects()
          .map((object) => [
            object.candidate.resource.kind,
            space.judge(object).find((finding) => finding.rule === rule)?.effect,
          ]),
      );
    };
    const spaceWith = (settings: object): Workspace => {
      const read = readSettings(settings);
      if (!read.ok) throw new Error(JSON.stringify(read.problems));
      const configured = { settings: read.settings, today: '2026-11-23' };
      return new Workspace(installation, policyOf('standard', bundle), [], configured);
    };

    test('without settings, and with those that override none', () => {
      const expected = { HTTPRoute: 'warn', GRPCRoute: undefined };
      const space = new Workspace(installation, policyOf('standard', bundle), []);
      expect(effectsIn(space, 'schema-unknown-field')).toEqual(expected);
      expect(effectsIn(spaceWith({}), 'schema-unknown-field')).toEqual(expected);
      expect(readObject(space.kernel.read, 'HTTPRoute', 'shop', 'cart')?.spec).not.toHaveProperty('rules.0.name');
    });

    test('an override decides on the verdict, and the CRD on the stored object', () => {
      const space = spaceWith({ bundleOverrides: [{ kinds: ['HTTPRoute'], bundle: 'v1.7' }] });
      expect(effectsIn(space, 'schema-unknown-field')).toEqual({ HTTPRoute: undefined, GRPCRoute: undefined });
      expect(readObject(space.kernel.read, 'HTTPRoute', 'shop', 'cart')?.spec).not.toHaveProperty('rules.0.name');
    });

    test('a guess denies nothing that an API server has stored', () => {
      const guess = { ...installation, guessed: ['HTTPRoute'] as const };
      const space = new Workspace(guess, policyOf('standard', bundle), []);
      const stored = documents.map((document) => ({ ...document, isStored: true as const }));
      expect(effectsIn(space, 'schema', stored)).toEqual({ HTTPRoute: 'warn', GRPCRoute: 'deny' });
      expect(effectsIn(space, 'schema')).toEqual({ HTTPRoute: 'deny', GRPCRoute: 'deny' });
    });
  });
});
