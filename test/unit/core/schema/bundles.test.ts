import { describe, expect, test } from '@jest/globals';
import { formatPath } from '../../../../src/core/resources/path.ts';
import {
  applyDefaults,
  channels,
  isSchemaKind,
  minors,
  schemaTables,
  versionOf,
  whyNotServed,
  type Bundle,
  type Channel,
  type KindTable,
  type Minor,
  type SchemaKind,
} from '../../../../src/core/schema/index.ts';
import { versionsIn } from '../../../../src/core/schema/compile.ts';
import { loadValidator } from '../../../../src/core/schema/validators.ts';
import { refusedBySchema } from '../../../support/schema.ts';

const group = 'gateway.networking.k8s.io';
const xGroup = 'gateway.networking.x-k8s.io';
const allBundles = minors.flatMap((minor) => channels.map((channel): Bundle => ({ minor, channel })));

/** `1.3 standard` */
function bundle(name: string): Bundle {
  const [minor, channel] = name.split(' ') as [Minor, Channel];
  return { minor, channel };
}

function problems(kind: SchemaKind, apiVersion: string, spec: unknown, where: string): readonly string[] {
  return refusedBySchema(kind, apiVersion, { apiVersion, kind, spec }, bundle(where)).map(
    ({ path, message, keyword }) => `[${keyword}] ${formatPath(path)} ${message}`,
  );
}

const targetRefs = [{ group: '', kind: 'Service', name: 's' }];
const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }];
const streamRules = [{ backendRefs: [{ name: 's', port: 80 }] }];
const samples: Readonly<Partial<Record<SchemaKind, object>>> = {
  GatewayClass: { controllerName: 'example.com/c' },
  Gateway: { gatewayClassName: 'c', listeners },
  HTTPRoute: { rules: [{ backendRefs: [{ name: 's', port: 80 }] }] },
  GRPCRoute: { rules: [{ matches: [{ method: { service: 'a.B' } }] }] },
  ReferenceGrant: { from: [{ group, kind: 'HTTPRoute', namespace: 'a' }], to: [{ group: '', kind: 'Service' }] },
  TLSRoute: { hostnames: ['a.example'], rules: streamRules },
  TCPRoute: { rules: streamRules },
  UDPRoute: { rules: streamRules },
  // The fields of v1alpha2 and those of later versions; each drops the other's.
  BackendTLSPolicy: {
    targetRefs,
    validation: { hostname: 'a.example', wellKnownCACertificates: 'System' },
    targetRef: targetRefs[0],
    tls: { hostname: 'a.example', wellKnownCACerts: 'System' },
  },
  BackendLBPolicy: { targetRefs },
  ListenerSet: { parentRef: { name: 'g' }, listeners },
  XListenerSet: { parentRef: { name: 'g' }, listeners },
  XBackend: { type: 'ExternalHostname', externalHostname: { hostname: 'a.example' }, port: { port: 443, number: 443 } },
  XBackendTrafficPolicy: { targetRefs },
  XMesh: { controllerName: 'example.com/c' },
  XTelemetryPolicy: { targetRefs, tracing: {} },
};

describe('every version of every kind that a bundle serves', () => {
  const served = Object.values<KindTable>(schemaTables)
    .filter((table) => table.group !== '' && table.kind in samples)
    .flatMap((table) =>
      allBundles.flatMap((where) => versionsIn(table, where).map((version) => ({ table, version, where }))),
    );

  test('has a validator, which admits a plain object and refuses one without spec', () => {
    expect(served).toHaveLength(233);
    for (const { table, version, where } of served) {
      const { kind } = table;
      expect([kind, version.name, where, loadValidator(kind, version.name, where)]).not.toContain(undefined);
      if (!isSchemaKind(kind) || !version.served) continue;
      const apiVersion = `${table.group}/${version.name}`;
      const refused = refusedBySchema(kind, apiVersion, { spec: samples[kind] }, where).filter(
        ({ keyword }) => keyword !== 'unknown',
      );
      expect([kind, version.name, where, refused]).toEqual([kind, version.name, where, []]);
      expect(refusedBySchema(kind, apiVersion, { spec: 'none' }, where)).toMatchObject([
        { path: ['spec'], keyword: 'type' },
      ]);
    }
  });
});

describe('bundles differ', () => {
  const matches = (count: number) => ({
    rules: [{ matches: Array.from({ length: count }, (_, i) => ({ headers: [{ name: `a${i}`, value: 'b' }] })) }],
  });
  const redirect = { rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { statusCode: 308 } }] }] };
  const frontend = {
    gatewayClassName: 'c',
    listeners: [
      {
        ...listeners[0],
        tls: { frontendValidation: { caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'ca' }] } },
      },
    ],
  };
  const tooMany = '[maxItems] spec.rules[0].matches Too many items: the list has 9, and at most 8 are allowed.';

  test.each<[string, readonly [SchemaKind, string], object, readonly (readonly [string, readonly string[]])[]]>([
    [
      'a raised bound',
      ['HTTPRoute', 'v1'],
      matches(9),
      [
        ['1.1 standard', [tooMany]],
        ['1.2 standard', []],
      ],
    ],
    [
      'the same, later',
      ['GRPCRoute', 'v1'],
      matches(9),
      [
        ['1.2 experimental', [tooMany]],
        ['1.3 experimental', []],
      ],
    ],
    [
      'values that came',
      ['HTTPRoute', 'v1'],
      redirect,
      [
        [
          '1.4 standard',
          [
            '[enum] spec.rules[0].filters[0].requestRedirect.statusCode Unsupported value 308: it is in both channels since v1.5, not in v1.4 standard. Use one of 301, 302.',
          ],
        ],
        ['1.5 standard', []],
      ],
    ],
    [
      'a list that may no longer be empty',
      ['HTTPRoute', 'v1'],
      { rules: [] },
      [
        ['1.4 standard', []],
        ['1.5 standard', ['[minItems] spec.rules List is empty. Add at least one item.']],
      ],
    ],
    [
      'a field that graduated',
      ['HTTPRoute', 'v1'],
      { rules: [{ retry: { attempts: 1 } }] },
      [
        ['1.6 experimental', []],
        ['1.7 standard', []],
        [
          '1.6 standard',
          [
            '[unknown] spec.rules[0].retry Unknown field: it is in the standard channel since v1.7 and in the experimental channel since v1.2, not in v1.6 standard, so the API server drops it.',
          ],
        ],
      ],
    ],
    [
      'a field that moved',
      ['Gateway', 'v1'],
      frontend,
      [
        ['1.3 experimental', []],
        [
          '1.4 experimental',
          [
            '[unknown] spec.listeners[0].tls.frontendValidation Unknown field: it was in the experimental channel from v1.1 to v1.3, not in v1.4 experimental, so the API server drops it. Use spec.tls.frontend of the Gateway. Without it, client certificates are not verified.',
          ],
        ],
        [
          '1.4 standard',
          [
            '[unknown] spec.listeners[0].tls.frontendValidation Unknown field: it was in the experimental channel from v1.1 to v1.3, not in v1.4 standard, so the API server drops it. Without it, client certificates are not verified.',
          ],
        ],
      ],
    ],
    [
      'a bound by channel',
      ['BackendTLSPolicy', 'v1'],
      { targetRefs, validation: { hostname: 'a', caCertificateRefs: [] } },
      [
        ['1.7 standard', []],
        ['1.7 experimental', ['[minItems] spec.validation.caCertificateRefs List is empty. Add at least one item.']],
      ],
    ],
    [
      'an enum that opened',
      ['BackendTLSPolicy', 'v1'],
      { targetRefs, validation: { hostname: 'a', wellKnownCACertificates: 'Web' } },
      [
        [
          '1.4 standard',
          ['[enum] spec.validation.wellKnownCACertificates Unsupported value "Web". Supported values: System.'],
        ],
        [
          '1.5 standard',
          [
            '[pattern] spec.validation.wellKnownCACertificates Invalid value "Web". Use System, or a name of an implementation such as example.com/corporate.',
          ],
        ],
      ],
    ],
    [
      'an enum of one bundle',
      ['HTTPRoute', 'v1'],
      { rules: [{ filters: [{ type: 'CORS', cors: { allowCredentials: false } }] }] },
      [
        [
          '1.3 experimental',
          ['[enum] spec.rules[0].filters[0].cors.allowCredentials Unsupported value false. Supported values: true.'],
        ],
        ['1.4 experimental', []],
      ],
    ],
    [
      'fields renamed under the same version',
      ['XBackend', 'v1alpha1'],
      { type: 'ExternalHostname', port: { port: 443 } },
      [
        ['1.6 experimental', []],
        [
          '1.7 experimental',
          [
            '[minProperties] spec.port Too few fields. Set at least 1 of number.',
            '[unknown] spec.port.port Unknown field: it was in the experimental channel of v1.6, not in v1.7 experimental, so the API server drops it. Use number.',
          ],
        ],
      ],
    ],
    [
      'the versions of a kind',
      ['TCPRoute', 'v1alpha2'],
      { rules: [...streamRules, ...streamRules] },
      [
        ['1.5 experimental', []],
        ['1.7 experimental', []],
      ],
    ],
    [
      'its other version',
      ['TCPRoute', 'v1'],
      { rules: [...streamRules, ...streamRules] },
      [['1.7 experimental', ['[maxItems] spec.rules Too many items: the list has 2, and at most 1 are allowed.']]],
    ],
  ])('in %s', (_name, [kind, version], spec, expected) => {
    const apiVersion = `${kind.startsWith('X') ? xGroup : group}/${version}`;
    expect(expected.map(([where]) => [where, problems(kind, apiVersion, spec, where)])).toEqual(expected);
  });

  test('in fields that protect, which is told apart', () => {
    const spec = { gatewayClassName: 'c', listeners: [{ ...listeners[0], filters: {} }], defaultScope: 'All' };
    const found = refusedBySchema('Gateway', `${group}/v1`, { spec }, bundle('1.7 standard'));
    expect(found.map(({ path, lost }) => [formatPath(path), lost])).toEqual([
      ['spec.listeners[0].filters', 'Without it, requests pass without the authentication that these filters require'],
      ['spec.defaultScope', undefined],
    ]);
  });

  test('in defaults', () => {
    const filled = (where: string) => applyDefaults('HTTPRoute', { spec: { rules: [{ retry: {} }] } }, bundle(where));
    expect(filled('1.6 experimental')).toMatchObject({ spec: { rules: [{ retry: {} }] } });
    expect(filled('1.6 experimental')).not.toMatchObject({ spec: { rules: [{ retry: { attempts: 1 } }] } });
    expect(filled('1.7 standard')).toMatchObject({ spec: { rules: [{ retry: { attempts: 1 } }] } });
    const status = (minor: Minor) => applyDefaults('GatewayClass', {}, { minor, channel: 'standard' });
    expect(status('1.1')).toMatchObject({ status: { conditions: [{ reason: 'Waiting' }] } });
    expect(status('1.2')).toMatchObject({ status: { conditions: [{ reason: 'Pending' }] } });
  });
});

describe('what a bundle does not serve is one problem', () => {
  test.each<[SchemaKind, string, string, string]>([
    [
      'TCPRoute',
      `${group}/v1`,
      '1.5 standard',
      '[enum] kind Unsupported kind TCPRoute: it is in the standard channel since v1.6 and in the experimental channel since v1.0, not in v1.5 standard.',
    ],
    [
      'TCPRoute',
      `${group}/v1`,
      '1.5 experimental',
      '[enum] apiVersion Unsupported version "gateway.networking.k8s.io/v1": v1.5 experimental does not serve it (it is in both channels since v1.6). Use gateway.networking.k8s.io/v1alpha2.',
    ],
    [
      'TLSRoute',
      `${group}/v1alpha3`,
      '1.7 standard',
      '[enum] apiVersion Unsupported version "gateway.networking.k8s.io/v1alpha3": v1.7 standard does not serve it (it is in the experimental channel since v1.4). Use gateway.networking.k8s.io/v1.',
    ],
    [
      'ReferenceGrant',
      `${group}/v1alpha2`,
      '1.1 standard',
      '[enum] apiVersion Unsupported version "gateway.networking.k8s.io/v1alpha2": v1.1 standard does not serve it (it was in the standard channel of v1.0 and in the experimental channel from v1.0 to v1.1). Use gateway.networking.k8s.io/v1beta1.',
    ],
    [
      'BackendTLSPolicy',
      `${group}/v1alpha2`,
      '1.3 experimental',
      '[enum] apiVersion Unsupported version "gateway.networking.k8s.io/v1alpha2": v1.3 experimental does not serve it (it was in the experimental channel of v1.0). Use gateway.networking.k8s.io/v1alpha3.',
    ],
    [
      'XListenerSet',
      `${xGroup}/v1alpha1`,
      '1.5 standard',
      '[enum] kind Unsupported kind XListenerSet: it was in the experimental channel from v1.3 to v1.4, not in v1.5 standard. Use ListenerSet of gateway.networking.k8s.io/v1.',
    ],
    [
      'XListenerSet',
      `${xGroup}/v1alpha1`,
      '1.4 standard',
      '[enum] kind Unsupported kind XListenerSet: it was in the experimental channel from v1.3 to v1.4, not in v1.4 standard.',
    ],
    [
      'BackendLBPolicy',
      `${group}/v1alpha2`,
      '1.7 experimental',
      '[enum] kind Unsupported kind BackendLBPolicy: it was in the experimental channel from v1.1 to v1.2, not in v1.7 experimental. Use XBackendTrafficPolicy of gateway.networking.x-k8s.io/v1alpha1.',
    ],
    [
      'HTTPRoute',
      'example.com/v1',
      '1.0 standard',
      '[enum] apiVersion Unsupported version "example.com/v1": v1.0 standard does not serve it. Use gateway.networking.k8s.io/v1 or gateway.networking.k8s.io/v1beta1.',
    ],
  ])('%s %s in %s', (kind, apiVersion, where, expected) => {
    expect(problems(kind, apiVersion, samples[kind] ?? {}, where)).toEqual([expected]);
  });

  test('what it serves is none', () => {
    expect(whyNotServed('TCPRoute', `${group}/v1`, bundle('1.6 standard'))).toBeUndefined();
    expect(whyNotServed('Service', 'v1', bundle('1.0 standard'))).toBeUndefined();
  });

  test('a version tells whether it is served, and deprecated', () => {
    expect(versionOf('TLSRoute', `${group}/v1alpha2`, bundle('1.7 experimental'))).toMatchObject({
      served: true,
      deprecated: true,
    });
    expect(versionOf('TLSRoute', `${group}/v1alpha2`, bundle('1.7 standard'))).toMatchObject({
      served: false,
      deprecated: true,
    });
    expect(versionOf('TLSRoute', `${group}/v1`, bundle('1.7 standard'))).toMatchObject({ served: true, storage: true });
    expect(versionOf('TLSRoute', `${group}/v1`, bundle('1.4 experimental'))).toBeUndefined();
  });
});
