import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { AdmissionRequest, Denied } from '../../../src/core/admission/types.ts';
import { runToEnd } from '../../../src/core/text/steps.ts';
import { readReview, writeReview } from '../../../src/webhook/review.ts';
import { bodyOf } from '../../support/webhook.ts';

const asked = {
  uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
  kind: { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'HTTPRoute' },
  resource: { group: 'gateway.networking.k8s.io', version: 'v1', resource: 'httproutes' },
  requestKind: { group: 'gateway.networking.k8s.io', version: 'v1beta1', kind: 'HTTPRoute' },
  name: 'cart',
  namespace: 'shop',
  operation: 'UPDATE',
  userInfo: { username: 'jane', groups: ['developers', 'system:authenticated'] },
  object: { metadata: { name: 'cart' } },
  oldObject: { metadata: { name: 'cart' }, spec: {} },
  dryRun: true,
};
const review = (request: unknown) => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
const readText = (body: string | undefined) =>
  runToEnd(readReview(body === undefined ? undefined : bodyOf(body), 5000));
const read = (body: unknown) => readText(JSON.stringify(body));

function request(changes: object = {}): AdmissionRequest {
  const result = read(review({ ...asked, ...changes }));
  if (result.type === 'malformed') throw new Error(result.problem);
  return result.request;
}

describe('readReview', () => {
  test('reads all that a decision needs', () => {
    expect(request()).toEqual({
      uid: asked.uid,
      operation: 'UPDATE',
      group: 'gateway.networking.k8s.io',
      version: 'v1',
      kind: 'HTTPRoute',
      resource: 'httproutes',
      subResource: '',
      requestKind: asked.requestKind,
      name: 'cart',
      namespace: 'shop',
      object: asked.object,
      oldObject: asked.oldObject,
      dryRun: true,
      userInfo: asked.userInfo,
      budgetMs: 5000,
    });
  });

  test('reads what the API server leaves out or sends as null', () => {
    const bare = read(
      review({ uid: 'a', operation: 'DELETE', kind: { group: '', version: 'v1', kind: 'Service' }, object: null }),
    );
    expect(bare).toMatchObject({
      type: 'request',
      request: {
        group: '',
        name: '',
        namespace: '',
        subResource: '',
        object: undefined,
        oldObject: undefined,
        dryRun: false,
        userInfo: { username: '', groups: [] },
      },
    });
    expect(bare).toMatchObject({ request: { requestKind: { group: '', version: 'v1', kind: 'Service' } } });
  });

  test('passes on keys that JavaScript gives a meaning', () => {
    const body = JSON.stringify(review(asked)).replace('"metadata"', '"__proto__":{"polluted":1},"metadata"');
    const result = readText(body);
    expect(result).toMatchObject({ type: 'request' });
    expect(JSON.stringify(result)).toContain('"__proto__":{"polluted":1}');
    expect('polluted' in {}).toBe(false);
  });

  const malformed: [problem: string, body: string | undefined][] = [
    ['the body is empty; send an AdmissionReview of admission.k8s.io/v1 as JSON', undefined],
    ['the body is empty; send an AdmissionReview of admission.k8s.io/v1 as JSON', ''],
    ['the body is not JSON; send an AdmissionReview of admission.k8s.io/v1 as JSON', '{"apiVersion":'],
    ['found kind missing of apiVersion missing', '[]'],
    ['found kind missing of apiVersion missing', 'null'],
    [
      'found kind "AdmissionReview" of apiVersion "admission.k8s.io/v1beta1"; set admissionReviewVersions: ["v1"]',
      JSON.stringify({ ...review(asked), apiVersion: 'admission.k8s.io/v1beta1' }),
    ],
    ['found kind "Pod" of', JSON.stringify({ ...review(asked), kind: 'Pod' })],
    ['found kind a number of', JSON.stringify({ ...review(asked), kind: 7 })],
    ['request.uid is missing', JSON.stringify(review(null))],
    ['request.uid is missing', JSON.stringify(review(undefined))],
    ['request.uid is missing', JSON.stringify(review({ ...asked, uid: '' }))],
    [
      'request.operation is "PATCH"; send one of CREATE, UPDATE, DELETE, CONNECT',
      JSON.stringify(review({ ...asked, operation: 'PATCH' })),
    ],
    ['request.kind is missing', JSON.stringify(review({ ...asked, kind: 'HTTPRoute' }))],
  ];
  test.each(malformed)('says what is wrong: %s', (problem, body) => {
    expect(readText(body)).toEqual({ type: 'malformed', problem: expect.stringContaining(problem) });
  });

  test('never throws, whatever JSON stands anywhere', () => {
    const fields = fc.constantFrom(...Object.keys(asked));
    fc.assert(
      fc.property(fields, fc.jsonValue(), (field, value) => {
        expect(['request', 'malformed']).toContain(read(review({ ...asked, [field]: value })).type);
        expect(read(value).type).toBe('malformed');
        expect(read(review(value)).type).toBe('malformed');
      }),
    );
  });

  test('reads objects nested ten thousand deep', () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const body = JSON.stringify(review(asked)).replace('{"metadata":{"name":"cart"}}', deep);
    expect(readText(body).type).toBe('request');
  });
});

describe('writeReview', () => {
  const denied: Denied = {
    allowed: false,
    message: 'HTTPRoute shop/cart is invalid',
    causes: [
      { field: 'spec.rules[0]', message: 'header-acted-on-twice: write one action', reason: 'FieldValueInvalid' },
    ],
    warnings: ['a warning'],
    findings: [],
    auditAnnotations: { rules: 'header-acted-on-twice' },
  };

  test('echoes the uid of what is allowed, and sends no status', () => {
    expect(writeReview(request(), { allowed: true, warnings: [], findings: [], auditAnnotations: {} })).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: asked.uid, allowed: true, warnings: [], auditAnnotations: {} },
    });
  });

  test('denies as Invalid with causes, from which kubectl makes its list', () => {
    expect(writeReview(request(), denied)).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: {
        uid: asked.uid,
        allowed: false,
        status: {
          status: 'Failure',
          code: 422,
          reason: 'Invalid',
          message: 'HTTPRoute shop/cart is invalid',
          details: { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'cart', causes: denied.causes },
        },
        warnings: ['a warning'],
        auditAnnotations: { rules: 'header-acted-on-twice' },
      },
    });
  });

  test.each([
    [{ metadata: { generateName: 'cart-' } }, 'cart-'],
    [{ metadata: { name: 'cart-x', generateName: 'cart-' } }, 'cart-x'],
    [{ metadata: 7 }, ''],
  ])('finds a name for an object that has none yet: %j', (object, name) => {
    const answer = writeReview(request({ name: '', object }), denied);
    expect(answer).toMatchObject({ response: { status: { details: { name } } } });
  });

  test('lets no control character through to a terminal', () => {
    const evil = 'a\u001b[31m\nb';
    const answer = writeReview(request(), {
      ...denied,
      message: evil,
      causes: [{ field: evil, message: evil, reason: 'FieldValueInvalid' }],
      warnings: [evil],
    });
    expect(JSON.stringify(answer)).not.toMatch(/\\u001b|\\n/);
    expect(answer).toMatchObject({ response: { status: { message: 'a [31m b' } } });
  });
});
