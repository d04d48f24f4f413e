import { describe, expect, test } from '@jest/globals';
import { definitionChecks } from '../../../../src/cli/doctor/definitions.ts';
import type { Verdict } from '../../../../src/cli/doctor/facts.ts';
import type { InstalledKind } from '../../../../src/kubernetes/index.ts';
import { annotations, bundle, hashOf, healthy, installedKind } from '../../../support/doctor.ts';

function examine(kinds: readonly InstalledKind[], guardedBundle?: string): readonly Verdict[] {
  const facts = {
    ...healthy,
    kinds: { type: 'known' as const, value: kinds },
    guardedBundle: { type: 'known' as const, value: guardedBundle },
  };
  return definitionChecks.flatMap((check) => check(facts));
}

function verdict(verdicts: readonly Verdict[], check: string): Verdict | undefined {
  return verdicts.find((each) => each.check === check);
}

const standardInstall =
  'kubectl apply --server-side -f https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.7.0/standard-install.yaml';

describe('definitions of the Gateway API', () => {
  test('are fine as the bundle brings them', () => {
    expect(examine(bundle()).map(({ check, status }) => [check, status])).toEqual([
      ['crds-installed', 'ok'],
      ['crds-bundle', 'ok'],
      ['crds-channel', 'ok'],
      ['crds-schema', 'ok'],
      ['crds-stored-versions', 'ok'],
    ]);
  });

  test('absent', () => {
    expect(examine([])).toEqual([
      { check: 'crds-installed', status: 'fail', message: 'no Gateway API CRDs found', commands: [standardInstall] },
    ]);
    expect(examine([installedKind('xmeshes', { group: 'gateway.networking.x-k8s.io' })])).toHaveLength(1);
  });

  test('that cannot be listed', () => {
    const facts = { ...healthy, kinds: { type: 'unknown' as const, problem: 'forbidden' } };
    expect(definitionChecks.flatMap((check) => check(facts))).toEqual([
      expect.objectContaining({ check: 'crds-installed', status: 'warn' }),
    ]);
  });

  test('partial: without one that everything needs, and without one more', () => {
    const without = (missing: string) => bundle((plural) => (plural === missing ? undefined : installedKind(plural)));
    expect(verdict(examine(without('gateways')), 'crds-installed')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('gateways'),
      commands: [standardInstall],
    });
    expect(verdict(examine(without('tlsroutes')), 'crds-installed')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('not found: tlsroutes'),
    });
  });

  test('an older bundle is not partial for what it never had', () => {
    const old = ['gatewayclasses', 'gateways', 'httproutes', 'referencegrants'].map((plural) =>
      installedKind(plural, { annotations: annotations('v1.0.0', 'standard') }),
    );
    expect(verdict(examine(old), 'crds-installed')?.status).toBe('ok');
  });

  test('of a release candidate', () => {
    const kinds = bundle((plural) => installedKind(plural, { annotations: annotations('v1.7.0-rc.1', 'standard') }));
    expect(verdict(examine(kinds), 'crds-bundle')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('v1.7.0-rc.1'),
    });
  });

  test('not served yet', () => {
    const kinds = bundle((plural) => installedKind(plural, { established: plural !== 'httproutes' }));
    expect(verdict(examine(kinds), 'crds-established')).toMatchObject({
      status: 'fail',
      commands: ['kubectl describe crd httproutes.gateway.networking.k8s.io'],
    });
  });

  test('on its way out', () => {
    const kinds = bundle((plural) => installedKind(plural, { deleting: plural === 'gatewayclasses' }));
    expect(verdict(examine(kinds), 'crds-established')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining(
        'gatewayclasses.gateway.networking.k8s.io is being deleted. The deletion completes when its objects are deleted',
      ),
      commands: ['kubectl get gatewayclasses.gateway.networking.k8s.io -A'],
    });
  });

  test('mixed', () => {
    const kinds = bundle((plural) =>
      installedKind(plural, plural === 'httproutes' ? { annotations: annotations('v1.5.1', 'standard') } : {}),
    );
    const found = verdict(examine(kinds), 'crds-bundle');
    expect(found).toMatchObject({ status: 'fail', commands: [standardInstall] });
    expect(found?.message).toContain('v1.5.1: httproutes');
  });

  test.each(['', 'nonsense', 'v9.0.0'])('with an unknown version %j', (version) => {
    const kinds = bundle((plural) =>
      installedKind(plural, { annotations: version === '' ? {} : annotations(version, 'standard') }),
    );
    expect(verdict(examine(kinds), 'crds-bundle')).toMatchObject({ status: 'warn' });
    expect(verdict(examine(kinds, 'v1.7.0'), 'crds-downgraded')).toBeUndefined();
  });

  test('downgraded, as the policy of the newer bundle shows', () => {
    const kinds = bundle((plural) => installedKind(plural, { annotations: annotations('v1.5.1', 'standard') }));
    expect(verdict(examine(kinds, 'v1.7.0'), 'crds-downgraded')).toMatchObject({
      status: 'fail',
      commands: [standardInstall],
    });
    expect(verdict(examine(kinds, 'v1.5.1'), 'crds-downgraded')).toBeUndefined();
    expect(verdict(examine(kinds), 'crds-downgraded')).toBeUndefined();
  });

  test('of the experimental channel, and of both', () => {
    const experimental = bundle((plural) =>
      installedKind(plural, { annotations: annotations('v1.7.0', 'experimental') }),
    );
    expect(verdict(examine(experimental), 'crds-channel')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('experimental'),
    });
    const mixed = bundle((plural) =>
      installedKind(plural, plural === 'gateways' ? { annotations: annotations('v1.7.0', 'experimental') } : {}),
    );
    expect(verdict(examine(mixed), 'crds-channel')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('gateways are experimental'),
      commands: [standardInstall],
    });
    const none = bundle((plural) =>
      installedKind(plural, { annotations: { 'gateway.networking.k8s.io/bundle-version': 'v1.7.0' } }),
    );
    expect(verdict(examine(none), 'crds-channel')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('10 CRDs'),
    });
  });

  describe('by their schemas', () => {
    const group = 'gateway.networking.k8s.io';
    const withSchema =
      (schemaHash: string, labels = annotations('v1.7.0', 'standard')) =>
      (plural: string): InstalledKind =>
        installedKind(
          plural,
          plural === 'httproutes'
            ? { annotations: labels, versions: [{ name: 'v1', served: true, storage: true, schemaHash }] }
            : {},
        );
    const old = hashOf(`httproutes.${group}/v1`, '1.5/standard');
    const present = hashOf(`httproutes.${group}/v1`, '1.7/standard');

    test('changed: what the annotations name is put back, by force', () => {
      expect(verdict(examine(bundle(withSchema('changed'))), 'crds-schema')).toEqual({
        check: 'crds-schema',
        status: 'warn',
        commands: [`${standardInstall} --force-conflicts`],
        message: `httproutes.${group}: the schema does not match release v1.7 standard: it was modified, or it is newer than this program. Violations of v1.7 standard get warnings only`,
      });
    });

    test('older than the annotations say', () => {
      expect(verdict(examine(bundle(withSchema(old))), 'crds-schema')).toEqual({
        check: 'crds-schema',
        status: 'warn',
        commands: [`${standardInstall} --force-conflicts`],
        message: `httproutes.${group}: the annotations name v1.7 standard, but the schema matches v1.5 standard. The webhook validates against v1.5 standard`,
      });
    });

    test('newer than the annotations say: nobody is told to go back', () => {
      expect(
        verdict(examine(bundle(withSchema(present, annotations('v1.5.1', 'standard')))), 'crds-schema'),
      ).toMatchObject({
        status: 'warn',
        commands: [`${standardInstall} --force-conflicts`],
        message: `httproutes.${group}: the annotations name v1.5 standard, but the schema matches v1.7 standard. The webhook validates against v1.7 standard`,
      });
    });

    test('without annotations, and known all the same', () => {
      expect(verdict(examine(bundle(withSchema(old, {}))), 'crds-schema')).toMatchObject({
        status: 'warn',
        commands: [`${standardInstall.replace('v1.7.0', 'v1.5.1')} --force-conflicts`],
        message: expect.stringContaining(
          'the annotations name no released bundle, but the schema matches v1.5 standard',
        ),
      });
    });

    test.each([{}, annotations('v1.7.0-rc.1', 'standard'), annotations('v9.0.0', 'standard')])(
      'nothing more is told where neither is known: %j',
      (labels) => {
        expect(verdict(examine(bundle(withSchema('unknown', labels))), 'crds-schema')).toMatchObject({ status: 'ok' });
      },
    );

    test('kinds with the same fault are told together', () => {
      const kinds = bundle((plural) =>
        installedKind(plural, { versions: [{ name: 'v1', served: true, storage: true, schemaHash: 'changed' }] }),
      );
      expect(examine(kinds).filter(({ check }) => check === 'crds-schema')).toMatchObject([
        { message: expect.stringContaining(`gateways.${group}, grpcroutes.${group}, httproutes.${group}`) },
      ]);
    });
  });

  test('with a stored version that the next bundle does not have, and a newer one to store in', () => {
    const versions = ['v1', 'v1alpha2'].map((name) => ({ name, served: true, storage: name === 'v1', schemaHash: '' }));
    const kinds = bundle((plural) =>
      installedKind(plural, plural === 'grpcroutes' ? { storedVersions: ['v1alpha2', 'v1'], versions } : {}),
    );
    expect(verdict(examine(kinds), 'crds-stored-versions')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('v1alpha2'),
      commands: [
        'kubectl get grpcroutes.gateway.networking.k8s.io --all-namespaces -o json | kubectl replace -f -',
        `kubectl patch crd grpcroutes.gateway.networking.k8s.io --subresource=status --type=merge -p '{"status":{"storedVersions":["v1"]}}'`,
      ],
    });
  });

  test('with a stored version that the next bundle does not have, and no other to store in', () => {
    const versions = [{ name: 'v1alpha2', served: true, storage: true, schemaHash: '' }];
    const kinds = bundle((plural) =>
      installedKind(plural, plural === 'grpcroutes' ? { storedVersions: ['v1alpha2'], versions } : {}),
    );
    expect(verdict(examine(kinds), 'crds-stored-versions')).toMatchObject({
      status: 'fail',
      commands: [],
      message: expect.stringContaining('First install a bundle'),
    });
  });

  test('with versions that the next bundle still lists', () => {
    const kinds = bundle((plural) =>
      installedKind(plural, plural === 'tlsroutes' ? { storedVersions: ['v1alpha2', 'v1alpha3', 'v1'] } : {}),
    );
    expect(verdict(examine(kinds), 'crds-stored-versions')?.status).toBe('ok');
  });
});
