import { describe, expect, test } from '@jest/globals';
import { bundleChecks } from '../../../../src/cli/doctor/bundles.ts';
import { definitionChecks } from '../../../../src/cli/doctor/definitions.ts';
import type { DoctorFacts, Verdict } from '../../../../src/cli/doctor/facts.ts';
import type { InstalledKind } from '../../../../src/kubernetes/index.ts';
import { annotations, bundle, healthy, installedKind } from '../../../support/doctor.ts';

function examine(kinds: readonly InstalledKind[], changes: Partial<DoctorFacts> = {}): readonly Verdict[] {
  const facts = { ...healthy, kinds: { type: 'known' as const, value: kinds }, ...changes };
  return [...definitionChecks, ...bundleChecks].flatMap((check) => check(facts));
}

function verdict(verdicts: readonly Verdict[], check: string): Verdict | undefined {
  return verdicts.find((each) => each.check === check);
}

const xGroup = 'gateway.networking.x-k8s.io';

function xKind(plural: string, version: string): InstalledKind {
  return installedKind(plural, {
    name: `${plural}.${xGroup}`,
    group: xGroup,
    annotations: annotations(version, 'experimental'),
  });
}

const of = (version: string, channel: string) => (plural: string) =>
  installedKind(plural, { annotations: annotations(version, channel) });

describe('partial bundles', () => {
  test.each([
    ['v1.1.0', 'standard', ['grpcroutes']],
    ['v1.3.0', 'standard', []],
    ['v1.5.0', 'standard', ['tlsroutes', 'listenersets', 'backendtlspolicies']],
  ])('%s %s', (version, channel, expected) => {
    const few = ['gatewayclasses', 'gateways', 'httproutes', 'referencegrants'].map(of(version, channel));
    const rest = version === 'v1.3.0' ? ['grpcroutes'].map(of(version, channel)) : [];
    const found = verdict(examine([...few, ...rest]), 'crds-installed');
    expect(found?.status).toBe(expected.length === 0 ? 'ok' : 'warn');
    for (const name of expected) expect(found?.message).toContain(name);
    if (expected.length > 0) expect(found?.commands[0]).toContain(`/${version}/${channel}-install.yaml`);
  });

  test('of the experimental channel name the CRDs of the group x-k8s.io', () => {
    expect(verdict(examine(bundle(of('v1.7.0', 'experimental'))), 'crds-installed')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining(`xmeshes.${xGroup}`),
    });
  });
});

describe('CRDs of another bundle', () => {
  test('that this one does not have are left over', () => {
    const found = examine([...bundle(), xKind('xlistenersets', 'v1.4.1')]);
    expect(found.filter(({ status }) => status !== 'ok')).toEqual([
      {
        check: 'crds-leftover',
        status: 'warn',
        message: `xlistenersets.${xGroup} does not belong to bundle v1.7.0 standard: an upgrade does not change it, and controllers may ignore its objects. Use ListenerSet of gateway.networking.k8s.io/v1.`,
        commands: [`kubectl get xlistenersets.${xGroup} --all-namespaces`],
      },
    ]);
  });

  test('in the main group are no mixture of bundles', () => {
    const old = installedKind('backendlbpolicies', { annotations: annotations('v1.2.1', 'experimental') });
    const found = examine([...bundle(), old]);
    expect(verdict(found, 'crds-bundle')?.status).toBe('ok');
    expect(verdict(found, 'crds-channel')?.status).toBe('ok');
    expect(verdict(found, 'crds-leftover')?.status).toBe('warn');
  });

  test('in the group x-k8s.io were forgotten in an upgrade', () => {
    const kinds = [
      ...bundle(of('v1.7.0', 'experimental')),
      ...['xbackends', 'xbackendtrafficpolicies', 'xtelemetrypolicies'].map((plural) => xKind(plural, 'v1.7.0')),
      xKind('xmeshes', 'v1.4.1'),
    ];
    expect(verdict(examine(kinds), 'crds-experimental-group')).toMatchObject({
      status: 'warn',
      message: `xmeshes.${xGroup} (v1.4.1): not from bundle v1.7.0 like the other CRDs`,
      commands: [expect.stringContaining('/v1.7.0/experimental-install.yaml')],
    });
  });
});

describe('the policy against downgrades', () => {
  test('is absent, or not bound', () => {
    expect(
      verdict(examine(bundle(), { guardedBundle: { type: 'known', value: undefined } }), 'crds-guard'),
    ).toMatchObject({ status: 'warn', message: expect.stringContaining('ValidatingAdmissionPolicy safe-upgrades') });
    expect(verdict(examine(bundle(), { guardBinding: { type: 'known', value: false } }), 'crds-guard')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('the binding of safe-upgrades'),
    });
  });

  test('cannot be read, which is no proof that it exists', () => {
    const unread = { guardedBundle: { type: 'unknown' as const, problem: 'forbidden' } };
    expect(verdict(examine(bundle(), unread), 'crds-guard')?.status).toBe('warn');
  });

  test('is not expected of bundles that do not contain it', () => {
    const old = ['gatewayclasses', 'gateways', 'httproutes', 'referencegrants', 'grpcroutes'].map(
      of('v1.4.1', 'standard'),
    );
    expect(verdict(examine(old, { guardedBundle: { type: 'known', value: undefined } }), 'crds-guard')).toBeUndefined();
  });
});

test('a downgrade shows in fields that clients wrote, even without the policy', () => {
  const stored = {
    kind: 'HTTPRoute' as const,
    ref: { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop', name: 'cart' },
    json: {
      metadata: {
        managedFields: [
          { apiVersion: 'gateway.networking.k8s.io/v1', fieldsV1: { 'f:spec': { 'f:futureField': { '.': {} } } } },
        ],
      },
    },
  };
  const { controller } = healthy;
  const objects = {
    unobserved: [],
    unserved: [],
    stored: [stored],
    classes: [],
    gateways: [],
    listenerSets: [],
    certificates: [],
    idle: [],
  };
  const found = examine(bundle(), { controller: { ...controller, objects: { type: 'known', value: objects } } });
  expect(verdict(found, 'crds-dropped-fields')).toMatchObject({
    status: 'warn',
    message: expect.stringContaining('spec.futureField of HTTPRoute shop/cart'),
  });
});
