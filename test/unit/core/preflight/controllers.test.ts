import { describe, expect, test } from '@jest/globals';
import { knownControllers } from '../../../../src/core/preflight/controllers-table.ts';
import { judgeControllers } from '../../../../src/core/preflight/controllers.ts';
import type { Bundle } from '../../../../src/core/schema/index.ts';
import { object, to } from './subjects.ts';

const gatewayClass = (controllerName: string) => object('GatewayClass', 'v1', { spec: { controllerName } });
const tcpRoute = object('TCPRoute', 'v1alpha2', { spec: { rules: [] } });
const envoy = gatewayClass('gateway.envoyproxy.io/gatewayclass-controller');
const experimental: Bundle = { minor: '1.5', channel: 'experimental' };

describe('judgeControllers', () => {
  test('a controller that reads a version which the target does not serve, with the order of upgrades', () => {
    const findings = judgeControllers([envoy, tcpRoute], to('1.7'), () => experimental);
    expect(findings.map(({ severity, subject }) => `${severity} ${subject}`)).toEqual([
      'warning Envoy Gateway (GatewayClass app)',
      'note Envoy Gateway (GatewayClass app)',
    ]);
    expect(findings[0]?.message).toBe(
      'Releases of Envoy Gateway before 1.9 read TCPRoute as v1alpha2, which v1.7.0 standard does not serve. 1 TCPRoute would not be read. Releases of Envoy Gateway from 1.9 on read v1. v1.5 experimental does not serve it: upgrade the CRDs to v1.6 experimental first, which serves both versions, then the controller, then the CRDs to the target.',
    );
    expect(findings[0]?.source).toBe('https://github.com/envoyproxy/gateway/pull/9232');
    expect(findings[1]?.message).toContain('There are no objects of that kind now.');
  });

  test('CRDs that serve the new version already: the controller comes first', () => {
    const [finding] = judgeControllers([envoy, tcpRoute], to('1.7'), () => ({ minor: '1.6', channel: 'experimental' }));
    expect(finding?.message).toContain(
      'v1.6 experimental serves it already: upgrade the controller first, then the CRDs.',
    );
  });

  test('a kind whose CRD is not installed: the command does not list its objects', () => {
    const [first] = judgeControllers([envoy], to('1.7'), () => undefined);
    expect(first?.commands).toEqual(['kubectl get gatewayclasses.gateway.networking.k8s.io']);
    const [other] = judgeControllers([envoy, tcpRoute], to('1.7'), () => experimental);
    expect(other?.commands).toEqual(['kubectl get tcproutes.gateway.networking.k8s.io --all-namespaces']);
  });

  test('a target that serves both versions: the CRDs come first', () => {
    const [finding] = judgeControllers([envoy, tcpRoute], to('1.7', 'experimental'), () => experimental);
    expect(finding).toMatchObject({
      severity: 'note',
      message:
        'Releases of Envoy Gateway from 1.9 on read TCPRoute as v1, which the installed CRDs do not serve. Upgrade the CRDs first, then the controller.',
    });
  });

  test('going back: new releases fail', () => {
    const [finding] = judgeControllers(
      [gatewayClass('istio.io/gateway-controller'), tcpRoute],
      to('1.4', 'experimental'),
      () => ({ minor: '1.7', channel: 'experimental' }),
    );
    expect(finding?.message).toContain(
      'Releases of Istio from 1.30 on read TLSRoute as v1, which v1.4.1 experimental does not serve.',
    );
  });

  test('a controller without known requirements, and nothing that changes', () => {
    expect(judgeControllers([gatewayClass('example.com/controller'), tcpRoute], to('1.7'), () => experimental)).toEqual(
      [],
    );
    expect(
      judgeControllers([envoy, tcpRoute], to('1.5', 'experimental'), () => experimental).every(({ message }) =>
        message.includes('from 1.9 on'),
      ),
    ).toBe(true);
  });
});

describe('the table', () => {
  test.each(knownControllers)(
    '$name: every requirement has a source and one end',
    ({ controllerNames, requirements }) => {
      expect(controllerNames.every((name) => /^[a-z0-9.-]+\/[a-z-]+$/.test(name))).toBe(true);
      for (const { source, from, until } of requirements) {
        expect(source).toMatch(/^https:\/\/github\.com\/[\w-]+\/[\w.-]+\/(?:pull|issues)\/\d+$/);
        expect([from, until].filter((end) => end !== undefined)).toHaveLength(1);
      }
    },
  );
});
