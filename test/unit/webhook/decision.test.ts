import { describe, expect, test } from '@jest/globals';
import { probeDenial, probeObject } from '../../../src/webhook/configuration/probe.ts';
import { runToEnd } from '../../../src/core/text/steps.ts';
import { decideInCluster } from '../../../src/webhook/decision.ts';
import type { KnownBundle } from '../../../src/core/admission/settings.ts';
import { readSettings } from '../../../src/core/admission/read-settings.ts';
import type { AdmissionRequest, AdmissionVerdict } from '../../../src/core/admission/types.ts';
import { objectCell } from '../../../src/core/graph/inputs.ts';
import { write } from '../../../src/core/incremental/index.ts';
import { parseObject } from '../../../src/core/resources/parse.ts';
import { emptyEvaluation } from '../../support/evaluation.ts';
import { cartRoute, requestOf, wrongRule } from '../core/admission/requests.ts';

const certain: KnownBundle = { bundle: { minor: '1.7', channel: 'standard' }, certain: true };

interface Circumstances {
  readonly settings?: unknown;
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  readonly today?: string;
  readonly installed?: (group: string, resource: string) => KnownBundle;
}

function decide(
  request: AdmissionRequest,
  { settings = {}, namespaceLabels, today = '2026-11-23', installed = () => certain }: Circumstances = {},
): AdmissionVerdict {
  const kernel = emptyEvaluation();
  if (namespaceLabels !== undefined) {
    const parsed = parseObject({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop', labels: namespaceLabels },
    });
    if (parsed.type === 'resource') kernel.apply([write(objectCell, ['Namespace', '', 'shop'], parsed.resource)]);
  }
  const read = readSettings(settings);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return runToEnd(
    decideInCluster(request, { kernel, settings: () => read.settings, bundleOf: installed, today: () => today }),
  );
}

const wrong = requestOf({ object: cartRoute([wrongRule]) }, { resource: 'httproutes' });

describe('a decision in a cluster', () => {
  test('is made by the settings', () => {
    expect(decide(wrong).allowed).toBe(false);
    expect(decide(wrong, { settings: { profile: 'audit' } })).toMatchObject({
      allowed: true,
      warnings: [],
      auditAnnotations: { 'would-deny': expect.stringContaining('redirect-with-backends') },
    });
  });

  test("looks at the labels of the request's namespace", () => {
    const settings = { namespaces: [{ selector: { matchLabels: { stage: 'test' } }, profile: 'audit' }] };
    expect(decide(wrong, { settings, namespaceLabels: { stage: 'test' } }).allowed).toBe(true);
    expect(decide(wrong, { settings, namespaceLabels: { stage: 'live' } }).allowed).toBe(false);
    expect(decide(wrong, { settings }).allowed).toBe(false);
  });

  test('knows a namespace that is not seen yet by its name', () => {
    const settings = {
      namespaces: [{ selector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } }, profile: 'audit' }],
    };
    expect(decide(wrong, { settings }).allowed).toBe(true);
  });

  test('leaves exempt users alone, and says so in the audit log', () => {
    const byFlux = { ...wrong, userInfo: { username: 'flux', groups: [] } };
    expect(decide(byFlux, { settings: { exemptions: { usernames: ['flux'] } } })).toEqual({
      allowed: true,
      warnings: [],
      findings: [],
      auditAnnotations: { exempt: 'true' },
    });
  });

  test('takes the profile from the label of the namespace as far as the settings honor it', () => {
    const namespaceLabels = { 'sallyport.dev/profile': 'audit' };
    expect(decide(wrong, { namespaceLabels }).allowed).toBe(false);
    expect(decide(wrong, { namespaceLabels, settings: { profileLabel: 'honor' } })).toMatchObject({
      allowed: true,
      auditAnnotations: { 'would-deny': expect.stringContaining('redirect-with-backends') },
    });
  });

  test('knows on which day an exemption ends', () => {
    const annotations = { 'sallyport.dev/exempt': 'moves soon', 'sallyport.dev/exempt-until': '2026-11-23' };
    const request = requestOf({ object: cartRoute([wrongRule], { annotations }) }, { resource: 'httproutes' });
    const settings = { exemptions: { annotations: 'permit' } };
    expect(decide(request, { settings, today: '2026-11-23' }).allowed).toBe(true);
    expect(decide(request, { settings, today: '2026-11-24' }).allowed).toBe(false);
    expect(decide(request).allowed).toBe(false);
  });

  test("denies the webhook's own probe whatever the settings are", () => {
    const request = requestOf({
      object: { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass', ...probeObject },
    });
    expect(decide(request, { settings: { profile: 'audit', exemptions: { usernames: ['someone'] } } })).toBe(
      probeDenial,
    );
  });

  test('asks for the bundle of the resource', () => {
    const asked: string[] = [];
    decide(wrong, {
      installed(group, resource) {
        asked.push(`${resource}.${group}`);
        return certain;
      },
    });
    expect(asked).toEqual(['httproutes.gateway.networking.k8s.io']);
  });

  describe('where the bundle is a guess', () => {
    const guess = { installed: () => ({ ...certain, certain: false }) };
    const effects = (verdict: AdmissionVerdict, ...rules: readonly string[]) =>
      verdict.findings.filter(({ rule }) => rules.includes(rule)).map(({ rule, mode }) => `${mode} ${rule}`);
    const misshapen = requestOf({ object: cartRoute([{ name: 7 }]) }, { resource: 'httproutes' });
    const crowded = requestOf(
      {
        object: cartRoute([
          { matches: Array.from({ length: 64 }, (_, index) => ({ path: { value: `/${index}` } })) },
          { matches: Array.from({ length: 64 }, () => ({})) },
          {},
        ]),
      },
      { resource: 'httproutes' },
    );

    test('what contradicts its schema is warned of', () => {
      expect(effects(decide(misshapen), 'schema')).toEqual(['deny schema']);
      expect(effects(decide(misshapen, guess), 'schema')).toEqual(['warn schema']);
    });

    test('what its own rules refuse is warned of', () => {
      expect(effects(decide(crowded), 'too-many-matches')).toEqual(['deny too-many-matches']);
      expect(effects(decide(crowded, guess), 'too-many-matches')).toEqual(['warn too-many-matches']);
    });

    test('what is wrong in every bundle is denied', () => {
      expect(effects(decide(wrong, guess), 'redirect-with-backends')).toEqual(['deny redirect-with-backends']);
    });

    test('who asks for a denial gets it', () => {
      expect(effects(decide(misshapen, { ...guess, settings: { effects: { schema: 'deny' } } }), 'schema')).toEqual([
        'deny schema',
      ]);
      expect(
        effects(decide(misshapen, { ...guess, settings: { bundleOverrides: [{ bundle: 'v1.7' }] } }), 'schema'),
      ).toEqual(['deny schema']);
    });

    test('audit does not say that it would be denied', () => {
      const settings = { profile: 'audit' };
      expect(decide(misshapen, { settings })).toMatchObject({
        auditAnnotations: { 'would-deny': expect.stringContaining('schema') },
      });
      expect(decide(misshapen, { ...guess, settings }).auditAnnotations['would-deny']).toBeUndefined();
    });
  });

  test('without any time left there still is an answer', () => {
    expect(decide({ ...wrong, budgetMs: 0 }).allowed).toBe(false);
  });
});
