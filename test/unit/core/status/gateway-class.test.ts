import { describe, expect, test } from '@jest/globals';
import { installationCell, type Installation } from '../../../../src/core/graph/inputs.ts';
import { write } from '../../../../src/core/incremental/index.ts';
import { statuses } from '../../../../src/core/status/emit.ts';
import { evaluate, installation } from '../../../support/evaluation.ts';

const ours = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'ours', generation: 3 },
  spec: { controllerName: installation.controllerName },
};

function supportedVersion(
  bundleVersions: Installation['bundleVersions'],
  incomplete?: Installation['incomplete'],
): unknown {
  const { kernel } = evaluate([ours]);
  kernel.apply([write(installationCell, [], { ...installation, bundleVersions, incomplete })]);
  const status = kernel.emitted(statuses).get('GatewayClass//ours');
  return status !== undefined && 'conditions' in status
    ? status.conditions.find(({ type }) => type === 'SupportedVersion')
    : undefined;
}

describe('SupportedVersion of a GatewayClass', () => {
  test('is True for a bundle that the tables describe', () => {
    expect(supportedVersion({ GatewayClass: 'v1.7.0', HTTPRoute: 'v1.6.3' })).toMatchObject({
      status: 'True',
      reason: 'SupportedVersion',
      observedGeneration: 3,
    });
  });

  test('is True for an incomplete bundle, and names the CRDs that are not found', () => {
    const incomplete = { bundle: 'v1.7.0 standard', absent: ['tcproutes', 'tlsroutes'] };
    expect(supportedVersion({ GatewayClass: 'v1.7.0' }, incomplete)).toMatchObject({
      status: 'True',
      reason: 'SupportedVersion',
      message:
        'The bundle v1.7.0 standard is incomplete. CRDs not found: tcproutes, tlsroutes. Objects of these kinds cannot be stored. Install the complete bundle.',
    });
  });

  test.each(['v2.0.0', 'v0.8.1', 'v0.0.0-dev', 'nonsense'])('is False for the bundle "%s"', (version) => {
    const message = expect.stringContaining(
      `The CRD of GatewayClass has bundle version ${version}. Supported versions: v1.0,`,
    );
    expect(supportedVersion({ GatewayClass: version })).toMatchObject({
      status: 'False',
      reason: 'UnsupportedVersion',
      observedGeneration: 3,
      message,
    });
  });

  test.each(['XBackend', 'XBackendTrafficPolicy'])(
    'is False where %s of the group x-k8s.io is of another one',
    (kind) => {
      expect(supportedVersion({ GatewayClass: 'v1.7.0', [kind]: 'v1.99.0' })).toMatchObject({
        status: 'False',
        reason: 'UnsupportedVersion',
        message: expect.stringContaining(`The CRD of ${kind} has bundle version v1.99.0. Supported versions: v1.0,`),
      });
    },
  );

  test('is False where one of the kinds is of another bundle, which is named', () => {
    const message = expect.stringContaining(
      'The CRD of HTTPRoute has bundle version v1.99.0. The CRD of ListenerSet has no bundle version annotation. Supported versions: v1.0,',
    );
    expect(supportedVersion({ GatewayClass: 'v1.7.0', HTTPRoute: 'v1.99.0', ListenerSet: '' })).toMatchObject({
      status: 'False',
      reason: 'UnsupportedVersion',
      message,
    });
  });
});
