import { describe, expect, test } from '@jest/globals';
import { anything, assert, constantFrom, property, record, jsonValue } from 'fast-check';
import { judgementByBundle } from '../../../../../src/core/rules/engine/judge-by-bundle.ts';
import {
  channels,
  examine,
  minors,
  schemaTables,
  type Bundle,
  type SchemaKind,
} from '../../../../../src/core/schema/index.ts';
import { refusedByRules } from '../../../../support/schema.ts';

const newest: Bundle = { minor: '1.7', channel: 'experimental' };
const v1 = 'gateway.networking.k8s.io/v1';

function findings(kind: SchemaKind, spec: unknown, bundle: Bundle = newest, apiVersion = v1) {
  return refusedByRules(kind, apiVersion, { apiVersion, kind, spec }, bundle).map(
    ({ rule, path }) => `${rule} ${path.join('.')}`,
  );
}

describe('refusedByRules', () => {
  test('goes by the defaults of the bundle', () => {
    expect(findings('HTTPRoute', { rules: [{ backendRefs: [{ name: 'cart' }] }] })).toEqual([
      'service-port-missing spec.rules.0.backendRefs.0.port',
    ]);
  });

  test('says nothing of fields that the bundle does not have', () => {
    const spec = { listeners: [{ name: 'a', port: 1, protocol: 'TCP', filters: {} }] };
    expect(findings('Gateway', spec)).toEqual(['listener-protocol-fields spec.listeners.0.filters']);
    expect(findings('Gateway', spec, { minor: '1.7', channel: 'standard' })).toEqual([]);
  });

  test('nor that something is missing which is there, but cannot be read or is no field of the bundle', () => {
    expect(findings('HTTPRoute', { rules: [{ filters: [{ type: 'CORS', cors: 'all' }] }] })).toEqual([]);
    expect(
      findings(
        'HTTPRoute',
        { rules: [{ filters: [{ type: 'ExternalAuth', externalAuth: {} }] }] },
        { minor: '1.7', channel: 'standard' },
      ),
    ).toEqual([]);
  });

  test('nor of versions that the bundle does not have, and kinds that it demands nothing of', () => {
    expect(
      findings('HTTPRoute', { rules: [{ backendRefs: [{ name: 'cart' }] }] }, newest, 'gateway.networking.k8s.io/v2'),
    ).toEqual([]);
    expect(findings('ReferenceGrant', { from: [], to: [] })).toEqual([]);
  });

  test('null is absence', () => {
    expect(findings('HTTPRoute', { rules: [{ backendRefs: [{ name: 'cart', group: null, port: null }] }] })).toEqual([
      'service-port-missing spec.rules.0.backendRefs.0.port',
    ]);
  });

  const kinds = constantFrom(...(Object.keys(schemaTables) as SchemaKind[]));
  const bundles = record({ minor: constantFrom(...minors), channel: constantFrom(...channels) });

  test('survives any JSON, and any value at all', () => {
    assert(
      property(kinds, bundles, jsonValue(), anything(), (kind, bundle, spec, value) => {
        const { group } = schemaTables[kind];
        for (const version of ['v1', 'v1beta1', 'v1alpha3', 'v1alpha2', 'v1alpha1']) {
          expect(Array.isArray(refusedByRules(kind, `${group}/${version}`, { spec }, bundle))).toBe(true);
          expect(Array.isArray(refusedByRules(kind, `${group}/${version}`, value, bundle))).toBe(true);
        }
      }),
    );
  });
});

describe('judgementByBundle', () => {
  function stepsOf(rulesCount: number, matches: number): number {
    const headers = Array.from({ length: 16 }, (_, index) => ({
      type: 'RegularExpression',
      name: `x-${index}`,
      value: 'a+?',
    }));
    const rules = Array.from({ length: rulesCount }, () => ({
      matches: Array.from({ length: matches }, () => ({ headers })),
    }));
    const object = { kind: 'HTTPRoute', apiVersion: v1, json: { spec: { rules } } } as const;
    const steps = judgementByBundle(object, examine(object, newest), newest);
    let count = 0;
    while (steps.next().done !== true) count += 1;
    return count;
  }

  test('has steps in objects with many values', () => {
    expect(stepsOf(16, 8)).toBeGreaterThan(8);
    expect(stepsOf(2, 64)).toBeGreaterThan(8);
    expect(stepsOf(16, 1)).toBeLessThan(4);
  });
});
