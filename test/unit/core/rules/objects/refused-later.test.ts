import { describe, expect, test } from '@jest/globals';
import { formatPath } from '../../../../../src/core/resources/path.ts';
import { findingsOfNewest } from '../../../../../src/core/rules/objects/refused-later.ts';
import { runToEnd } from '../../../../../src/core/text/steps.ts';
import { isSchemaKind, type Bundle } from '../../../../../src/core/schema/index.ts';
import { validate } from '../../../../../src/library/index.ts';
import { gatewayWith, objectOf, routeWith, soundRoute } from '../../../../support/rules.ts';

function later(
  json: unknown,
  minor: Bundle['minor'],
  channel: Bundle['channel'] = 'standard',
): readonly (readonly [string, string])[] {
  const { kind, apiVersion } = json as { readonly kind: string; readonly apiVersion: string };
  if (!isSchemaKind(kind)) throw new Error(`${kind} has no schema`);
  return runToEnd(findingsOfNewest({ kind, apiVersion, json }, { minor, channel }, [])).map(({ path, message }) => [
    formatPath(path),
    message,
  ]);
}

const twice = routeWith(
  { name: 'a', backendRefs: [{ name: 'cart', port: 80 }] },
  { name: 'a', backendRefs: [{ name: 'cart', port: 80 }] },
);

describe('refused-later', () => {
  test('what every bundle takes has none, and in the newest nothing has any', () => {
    expect(later(soundRoute(), '1.0')).toEqual([]);
    expect(later(twice, '1.7')).toEqual([]);
  });

  test('a rule that came', () => {
    expect(later(twice, '1.6')).toEqual([
      [
        'spec.rules[1].name',
        'Invalid in v1.7 standard: Duplicate rule name "a": spec.rules[0] has the same name. Use another name, or remove name.',
      ],
    ]);
  });

  test('a field that became required, and one that is gone', () => {
    const backend = objectOf('XBackend', 'v1alpha1', {
      type: 'ExternalHostname',
      externalHostname: { hostname: 'api.example.com' },
      protocol: 'HTTP',
      port: { port: 80 },
    });
    expect(later(backend, '1.6', 'experimental')).toEqual([
      ['spec.port', 'Invalid in v1.7 experimental: Too few fields. Set at least 1 of number.'],
      [
        'spec.port.port',
        'Invalid in v1.7 experimental: Unknown field: it was in the experimental channel of v1.6, not in v1.7 experimental, so the API server drops it. Use number.',
      ],
    ]);
  });

  test('a kind and a version that are gone', () => {
    const set = {
      ...(objectOf('XListenerSet', 'v1alpha1', {
        parentRef: { name: 'front' },
        listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }],
      }) as object),
    };
    expect(later(set, '1.4', 'experimental').map(([path]) => path)).toEqual(['kind']);
    expect(later(objectOf('GRPCRoute', 'v1alpha2', {}), '1.0', 'experimental').map(([path]) => path)).toEqual([
      'apiVersion',
    ]);
  });

  test('protection that an upgrade would take away', () => {
    const gateway = gatewayWith({
      name: 'web',
      port: 443,
      protocol: 'HTTPS',
      tls: {
        certificateRefs: [{ name: 'cart' }],
        frontendValidation: { caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'clients' }] },
      },
    });
    expect(later(gateway, '1.3', 'experimental').map(([path]) => path)).toEqual([
      'spec.listeners[0].tls.frontendValidation',
    ]);
  });

  test('nothing is said of what the present bundle does not have', () => {
    expect(later(objectOf('TCPRoute', 'v1', {}), '1.5')).toEqual([]);
  });

  test('is a warning beside what the present bundle says, never instead', () => {
    const route = routeWith({ name: 'a' }, { name: 'a', timeouts: { request: '1s', backendRequest: '2s' } });
    const found = validate(route, { bundle: 'v1.6.0' });
    expect(found.map(({ rule, severity }) => `${severity} ${rule}`)).toContain('error backend-request-timeout');
    // There a rule of ours denies the names already.
    expect(found.filter(({ field }) => field === 'spec.rules[1].name').map(({ rule }) => rule)).toEqual([
      'rule-name-repeated',
    ]);
    expect(
      validate(routeWith(), { bundle: 'v1.4.0' })
        .filter(({ field }) => field === 'spec.rules')
        .map(({ rule, severity }) => [rule, severity]),
    ).toEqual([['refused-later', 'warning']]);
  });
});
