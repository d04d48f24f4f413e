import { describe, expect, test } from '@jest/globals';
import { judgeObjects } from '../../../../src/core/preflight/objects.ts';
import type { Channel, Minor } from '../../../../src/core/schema/index.ts';
import { object, short, to } from './subjects.ts';

const backendRefs = [{ name: 'app', port: 80 }];
const authentication = {
  type: 'ExternalAuth',
  externalAuth: { protocol: 'HTTP', http: {}, backendRef: { name: 'auth', port: 80 } },
};
const listener = { name: 'http', port: 80, protocol: 'HTTP' };
const route = (rule: object) => object('HTTPRoute', 'v1', { spec: { rules: [{ backendRefs, ...rule }] } });
const gateway = (spec: object) =>
  object('Gateway', 'v1', { spec: { gatewayClassName: 'ours', listeners: [listener], ...spec } });

describe('judgeObjects', () => {
  test.each<[string, ReturnType<typeof object>, Minor, Channel, readonly string[]]>([
    ['a plain route', route({}), '1.7', 'standard', []],
    [
      'a retry in a bundle without it',
      route({ retry: { attempts: 2 } }),
      '1.6',
      'standard',
      ['warning pruned-fields HTTPRoute shop/app spec.rules[0].retry'],
    ],
    ['a retry in a bundle with it', route({ retry: { attempts: 2 } }), '1.7', 'standard', []],
    [
      'authentication',
      route({ filters: [authentication] }),
      '1.7',
      'standard',
      [
        'blocker rejected-objects HTTPRoute shop/app spec.rules[0].filters[0].type',
        'blocker lost-protection HTTPRoute shop/app spec.rules[0].filters[0].externalAuth',
      ],
    ],
    [
      'filters of a listener',
      gateway({ listeners: [{ ...listener, filters: { requests: [authentication] } }] }),
      '1.7',
      'standard',
      ['blocker lost-protection Gateway shop/app spec.listeners[0].filters'],
    ],
    [
      'an internal address',
      gateway({ addresses: [{ value: '10.0.0.1', routability: 'Cluster' }] }),
      '1.7',
      'standard',
      ['blocker lost-protection Gateway shop/app spec.addresses[0].routability'],
    ],
    [
      'routability in a status: the controller writes it, so no protection is lost',
      object('Gateway', 'v1', {
        spec: { gatewayClassName: 'ours', listeners: [listener] },
        status: { addresses: [{ type: 'IPAddress', value: '192.0.2.1', routability: '' }] },
      }),
      '1.6',
      'standard',
      ['note pruned-fields Gateway shop/app status.addresses[0].routability'],
    ],
    [
      'client validation that has moved',
      gateway({
        listeners: [
          {
            ...listener,
            protocol: 'HTTPS',
            tls: {
              certificateRefs: [{ name: 'cert' }],
              frontendValidation: { caCertificateRefs: [{ name: 'ca', group: '', kind: 'ConfigMap' }] },
            },
          },
        ],
      }),
      '1.4',
      'experimental',
      ['blocker lost-protection Gateway shop/app spec.listeners[0].tls.frontendValidation'],
    ],
    [
      'two rules of a TCPRoute',
      object('TCPRoute', 'v1alpha2', { spec: { rules: [{ backendRefs }, { backendRefs }] } }),
      '1.7',
      'standard',
      ['blocker rejected-objects TCPRoute shop/app spec.rules'],
    ],
    [
      'a TLSRoute without hostnames',
      object('TLSRoute', 'v1alpha2', { spec: { rules: [{ backendRefs }] } }),
      '1.7',
      'standard',
      ['blocker rejected-objects TLSRoute shop/app spec.hostnames'],
    ],
    [
      'a rule of CEL: names that are not unique',
      object('HTTPRoute', 'v1', {
        spec: {
          rules: [
            { name: 'a', backendRefs },
            { name: 'a', backendRefs },
          ],
        },
      }),
      '1.7',
      'standard',
      ['blocker rejected-objects HTTPRoute shop/app spec.rules[1].name'],
    ],
    [
      'features as strings in a status',
      object('GatewayClass', 'v1', {
        spec: { controllerName: 'example.com/c' },
        status: { supportedFeatures: ['Gateway'] },
      }),
      '1.7',
      'standard',
      ['warning rejected-objects GatewayClass app status.supportedFeatures[0]'],
    ],
    [
      'a kind that the target does not have',
      object('XListenerSet', 'gateway.networking.x-k8s.io/v1alpha1', { spec: {} }),
      '1.7',
      'standard',
      [],
    ],
  ])('%s', (...[, stored, minor, channel, expected]) => {
    expect(short(judgeObjects([stored], to(minor, channel), () => undefined))).toEqual(expected);
  });

  test('the installed bundle rejects it, too: a warning', () => {
    const empty = object('HTTPRoute', 'v1', { spec: { rules: [] } });
    const [already] = judgeObjects([empty], to('1.7'), () => ({ minor: '1.6', channel: 'standard' }));
    expect(already).toMatchObject({
      severity: 'warning',
      message: expect.stringMatching(/The installed bundle rejects it, too\.$/),
    });
    const [fresh] = judgeObjects([empty], to('1.7'), () => ({ minor: '1.4', channel: 'standard' }));
    expect(fresh).toMatchObject({ severity: 'blocker' });
  });

  test('a field of the status that is dropped needs no action', () => {
    const addressed = object('Gateway', 'v1', {
      spec: { gatewayClassName: 'ours', listeners: [listener] },
      status: { addresses: [{ type: 'IPAddress', value: '192.0.2.1', routability: '' }] },
    });
    const [dropped] = judgeObjects([addressed], to('1.6'), () => undefined);
    expect(dropped).toMatchObject({
      message: expect.stringMatching(
        /, so the API server drops it\. The controller writes the status: no action is required\.$/,
      ),
      commands: ['kubectl get gateways.gateway.networking.k8s.io app -n shop -o yaml --show-managed-fields'],
    });
  });

  test('the command edits the object, and names cannot leave their word', () => {
    expect(judgeObjects([route({ retry: {} })], to('1.5'), () => undefined)[0]?.commands).toEqual([
      'kubectl edit httproutes.gateway.networking.k8s.io app -n shop',
    ]);
    const odd = object('HTTPRoute', 'v1', { metadata: { name: "a'; reboot" }, spec: { rules: [{ retry: {} }] } });
    expect(judgeObjects([odd], to('1.5'), () => undefined)[0]?.commands[0]).toContain(
      String.raw`'a'\''; reboot' -n shop`,
    );
  });
});
