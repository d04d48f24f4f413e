import { describe, expect, test } from '@jest/globals';
import {
  failingPhase,
  isProbe,
  probeDenial,
  probeObject,
  readProbeOutcome,
  type ProbeOutcome,
} from '../../../../src/webhook/configuration/probe.ts';
import type { AdmissionRequest } from '../../../../src/core/admission/types.ts';
import type { WriteOutcome } from '../../../../src/kubernetes/index.ts';

function request(object: unknown, kind = 'GatewayClass'): AdmissionRequest {
  return {
    uid: '1',
    operation: 'CREATE',
    group: 'gateway.networking.k8s.io',
    version: 'v1',
    kind,
    resource: 'gatewayclasses',
    subResource: '',
    requestKind: { group: '', version: '', kind },
    name: '',
    namespace: '',
    object,
    dryRun: true,
    userInfo: { username: '', groups: [] },
    budgetMs: 1,
  };
}

describe('isProbe', () => {
  test('knows the object that is sent', () => {
    expect(isProbe(request(probeObject))).toBe(true);
  });

  test.each([
    undefined,
    null,
    'text',
    {},
    { metadata: null },
    { metadata: { labels: [] } },
    { metadata: { labels: { other: '' } } },
  ])('takes %j for something else', (object) => {
    expect(isProbe(request(object))).toBe(false);
  });

  test('looks at GatewayClasses only', () => {
    expect(isProbe(request(probeObject, 'HTTPRoute'))).toBe(false);
  });
});

const configuration = {
  webhooks: [
    { name: 'other.example', trusted: [], failurePolicy: 'Fail', service: undefined },
    { name: 'x', trusted: [], failurePolicy: 'Fail', service: undefined },
  ],
} as const;

function read(outcome: WriteOutcome): ProbeOutcome {
  return readProbeOutcome(outcome, configuration);
}

describe('readProbeOutcome', () => {
  test('knows our denial, in its causes and in its message', () => {
    const causes = probeDenial.causes.map((cause) => ({ ...cause }));
    expect(read({ type: 'invalid', message: 'admission webhook "x" denied the request', causes })).toEqual({
      type: 'denied',
    });
    expect(
      read({
        type: 'invalid',
        message: `admission webhook "x" denied the request: ${probeDenial.message}`,
        causes: [],
      }),
    ).toEqual({ type: 'denied' });
  });

  test('does not take the denial of somebody else for ours', () => {
    expect(
      read({ type: 'invalid', message: 'no', causes: [{ field: 'spec', reason: '', message: 'required' }] }),
    ).toEqual({ type: 'inconclusive', message: 'no' });
    expect(read({ type: 'forbidden', message: 'rbac' })).toEqual({ type: 'inconclusive', message: 'rbac' });
  });

  test('tells a webhook that is not reached from an API server that is not', () => {
    const message =
      'Internal error occurred: failed calling webhook "x": failed to call webhook: Post "https://a.b.svc:443/validate?timeout=5s": dial tcp 10.0.0.1:443: connect: connection refused';
    expect(read({ type: 'unavailable', message })).toEqual({ type: 'failed', phase: 'connect', message });
    expect(read({ type: 'unavailable', message: 'no answer' })).toEqual({ type: 'inconclusive', message: 'no answer' });
  });

  test('takes the failure of a foreign webhook for no news of ours', () => {
    const message =
      'Internal error occurred: failed calling webhook "foreign.example": failed to call webhook: connection refused';
    expect(read({ type: 'unavailable', message })).toEqual({ type: 'inconclusive', message });
    expect(
      readProbeOutcome({ type: 'unavailable', message: message.replace('foreign.example', 'x') }, undefined),
    ).toMatchObject({ type: 'inconclusive' });
  });

  test('reads the rest', () => {
    expect(read({ type: 'ok' })).toEqual({ type: 'admitted' });
    expect(read({ type: 'notFound', message: 'm' })).toEqual({ type: 'suspended', message: 'm' });
    expect(read({ type: 'exists', message: 'm' })).toEqual({ type: 'inconclusive', message: 'm' });
  });
});

describe('failingPhase', () => {
  test.each([
    ['service', 'no endpoints available for service "sallyport-webhook"'],
    ['service', 'service "sallyport-webhook" not found'],
    ['dns', 'dial tcp: lookup hook.example on 10.0.0.10:53: no such host'],
    ['connect', 'dial tcp 10.0.0.1:443: connect: connection refused'],
    ['connect', 'dial tcp 10.0.0.1:443: connect: no route to host'],
    ['connect', 'Address is not allowed'],
    ['connect', 'EOF'],
    ['tls', 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
    ['tls', 'x509: certificate is valid for a, not b'],
    ['timeout', 'context deadline exceeded'],
    ['timeout', 'dial tcp 10.0.0.1:443: i/o timeout'],
    ['http', 'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got v1, Kind=Status'],
    ['http', 'the server could not find the requested resource'],
    ['unknown', 'something new'],
  ] as const)('is %s for: %s', (phase, message) => {
    expect(failingPhase(`failed calling webhook "x": ${message}`)).toBe(phase);
  });
});
