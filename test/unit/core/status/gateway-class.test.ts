import { describe, expect, test } from '@jest/globals';
import { installationCell } from '../../../../src/core/graph/inputs.ts';
import { write } from '../../../../src/core/incremental/index.ts';
import { statuses } from '../../../../src/core/status/emit.ts';
import { evaluate, installation } from '../../../support/evaluation.ts';

const ours = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass', metadata: { name: 'ours', generation: 3 }, spec: { controllerName: installation.controllerName } };

function supportedVersion(bundleVersion: string): unknown {
  const { kernel } = evaluate([ours]);
  kernel.apply([write(installationCell, [], { ...installation, bundleVersion })]);
  const status = kernel.emitted(statuses).get('GatewayClass//ours');
  return status !== undefined && 'conditions' in status ? status.conditions.find(({ type }) => type === 'SupportedVersion') : undefined;
}

describe('SupportedVersion of a GatewayClass', () => {
  test('is True for a bundle that the tables describe', () => {
    expect(supportedVersion('v1.7.0')).toMatchObject({ status: 'True', reason: 'SupportedVersion', observedGeneration: 3 });
  });

  test.each(['v2.0.0', 'v0.8.1', 'v0.0.0-dev', 'nonsense', ''])('is False for the bundle "%s"', (bundleVersion) => {
    expect(supportedVersion(bundleVersion)).toMatchObject({ status: 'False', reason: 'UnsupportedVersion', observedGeneration: 3, message: expect.stringContaining(bundleVersion) });
  });
});
