import { describe, expect, test } from '@jest/globals';
import { installationCell } from '../../../../../src/core/graph/inputs.ts';
import { write } from '../../../../../src/core/incremental/index.ts';
import { evaluate, found, grantIn, installation, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const certificate = {
  type: 'certificate',
  notBefore: '2026-01-01T00:00:00Z',
  notAfter: '2027-01-01T00:00:00Z',
} as const;
const facts = {
  certificates: {
    'shop/good': certificate,
    'shop/bad': { type: 'unusable', problem: 'tls.key is missing' } as const,
    'vault/shared': certificate,
  },
};
const asked = (tls: object | undefined, ...others: readonly unknown[]) =>
  found(
    'listener-certificate-invalid',
    [gatewayWith({ name: 'web', port: 443, protocol: 'HTTPS', tls }), ourClass, ...others],
    facts,
  );
const withRef = (...certificateRefs: readonly object[]) => ({ certificateRefs });
const grant = grantIn(
  'vault',
  { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'shop' },
  { group: '', kind: 'Secret' },
);
const invalid = 'ResolvedRefs InvalidCertificateRef listener';

describe('listener-certificate-invalid', () => {
  test('a usable one is fine, from another namespace with a grant', () => {
    expect(asked(withRef({ name: 'good' }))).toEqual([]);
    expect(asked(withRef({ name: 'shared', namespace: 'vault' }), grant)).toEqual([]);
  });

  test('where Secrets are not followed, nothing is said of one that was not seen', () => {
    const world = evaluate([
      gatewayWith({ name: 'web', port: 443, protocol: 'HTTPS', tls: withRef({ name: 'gone' }) }),
      ourClass,
    ]);
    world.kernel.apply([write(installationCell, [], { ...installation, unobserved: ['Secret'] })]);
    expect(world.candidates.flatMap((candidate) => world.judge(candidate))).toEqual([]);
  });

  test.each<[string, object, string, string]>([
    [
      'missing',
      { name: 'gone' },
      'Secret "shop/gone" not found. Check its name and namespace, or create it with type kubernetes.io/tls.',
      invalid,
    ],
    ['unusable', { name: 'bad' }, 'Invalid certificate in Secret "shop/bad": tls.key is missing.', invalid],
    [
      'of another kind',
      { kind: 'ConfigMap', name: 'good' },
      'Unsupported certificate kind ConfigMap. Use kind: Secret and an empty group.',
      invalid,
    ],
    [
      'not permitted',
      { name: 'shared', namespace: 'vault' },
      'Reference to Secret "vault/shared" is not permitted: it is in another namespace. Create a ReferenceGrant there, from kind Gateway to kind Secret.',
      'ResolvedRefs RefNotPermitted listener',
    ],
    [
      'neither permitted nor there',
      { name: 'gone', namespace: 'vault' },
      'Reference to Secret "vault/gone" is not permitted: it is in another namespace. Create a ReferenceGrant there, from kind Gateway to kind Secret.',
      'ResolvedRefs RefNotPermitted listener',
    ],
  ])('%s', (_, ref, message, consequence) => {
    expect(asked(withRef({ name: 'good' }, ref))).toEqual([
      ['spec.listeners[0].tls.certificateRefs[1]', message, consequence],
    ]);
  });

  test('none at all is the concern of other rules, unless options stand for them', () => {
    expect([undefined, {}, withRef()].flatMap((tls) => asked(tls))).toEqual([]);
    expect(asked({ options: { 'example.com/certificate': 'shop' } })).toEqual([
      [
        'spec.listeners[0].tls.certificateRefs',
        'Listener "web" has no certificateRefs, and its tls.options are unsupported. Set certificateRefs with a Secret of type kubernetes.io/tls.',
        invalid,
      ],
    ]);
  });

  test('plain HTTP needs none', () => {
    expect(
      found('listener-certificate-invalid', [gatewayWith({ name: 'web', port: 80, protocol: 'HTTP' }), ourClass]),
    ).toEqual([]);
  });
});
