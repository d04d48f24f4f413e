import { request as send } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { InjectOptions } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { AdmissionRequest, AdmissionVerdict } from '../../../src/core/admission/types.ts';
import { buildWebhook } from '../../../src/webhook/index.ts';
import { eventually } from '../../support/eventually.ts';
import { admissionReview, allow, atOnce, webhookGround, type WebhookGround } from '../../support/webhook.ts';

let ground: WebhookGround;
let app: ReturnType<typeof buildWebhook>;
let asked: AdmissionRequest[];
let decide: (request: AdmissionRequest) => AdmissionVerdict;

beforeEach(async () => {
  ground = await webhookGround();
  asked = [];
  decide = () => allow;
  app = buildWebhook({ ...ground, decide: atOnce(decideAndRecord) });
});

afterEach(() => app.close());

function decideAndRecord(request: AdmissionRequest): AdmissionVerdict {
  asked.push(request);
  return decide(request);
}

/** Sends a review on a connection of its own. */
function fetchOf({ port, ca, body }: { readonly port: number; readonly ca: string; readonly body: string }) {
  const headers = { 'content-type': 'application/json' };
  const request = send({ host: '127.0.0.1', port, ca, path: '/validate', method: 'POST', headers, agent: false });
  const status = new Promise<number | undefined>((resolve) => {
    request.on('response', (response) => resolve(response.resume().statusCode));
    request.on('error', () => resolve(undefined));
  });
  request.end(body);
  return { status, leave: () => request.destroy() };
}

const post = (payload: string | object | undefined, changes: InjectOptions = {}) =>
  app.inject({
    method: 'POST',
    url: '/validate',
    headers: { 'content-type': 'application/json' },
    ...(payload === undefined ? {} : { payload }),
    ...changes,
  });

describe('POST /validate', () => {
  test('answers an AdmissionReview that echoes the uid', async () => {
    const response = await post(admissionReview());
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toMatch(/^application\/json\b/);
    expect(response.json()).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: 'b7a1c5e2', allowed: true, warnings: [], auditAnnotations: {} },
    });
    expect(asked).toMatchObject([
      { kind: 'HTTPRoute', namespace: 'shop', name: 'cart', operation: 'CREATE', dryRun: false },
    ]);
  });

  test('decides once the events that have arrived are evaluated', async () => {
    const steps: string[] = [];
    const own = buildWebhook({
      ...ground,
      catchUp: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        steps.push('caught up');
      },
      decide: atOnce(() => {
        steps.push('decided');
        return allow;
      }),
    });
    const headers = { 'content-type': 'application/json' };
    const { statusCode } = await own.inject({ method: 'POST', url: '/validate', headers, payload: admissionReview() });
    await own.close();
    expect({ statusCode, steps }).toEqual({ statusCode: 200, steps: ['caught up', 'decided'] });
  });

  test('does not decide while a change is applied, and never for a client that has left', async () => {
    let change: PromiseWithResolvers<void> | undefined = Promise.withResolvers<void>();
    const own = buildWebhook({ ...ground, readable: () => change?.promise, decide: atOnce(decideAndRecord) });
    await own.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.server.address() as AddressInfo;
    const send = (name: string) =>
      fetchOf({ port, ca: ground.authority.certificate, body: JSON.stringify(admissionReview({ name })) });
    const [left, stays] = [send('left'), send('stays')];
    await eventually(() => expect(ground.metrics.inflight.value).toBe(2));
    left.leave();
    await eventually(() => expect(ground.metrics.inflight.value).toBe(1));
    const { statusCode } = await own.inject({ method: 'GET', url: '/other' });
    expect({ statusCode, asked }).toEqual({ statusCode: 404, asked: [] });
    change.resolve();
    change = undefined;
    expect(await stays.status).toBe(200);
    expect(asked.map(({ name }) => name)).toEqual(['stays']);
    await own.close();
  });

  test('hands a denial on, with everything the verdict says', async () => {
    decide = () => ({
      allowed: false,
      message: 'HTTPRoute shop/cart is invalid: a, b',
      causes: [
        { field: 'spec.a', message: 'a', reason: 'FieldValueInvalid' },
        { field: 'spec.b', message: 'b', reason: 'FieldValueRequired' },
      ],
      warnings: ['c\nd'],
      findings: [
        { rule: 'a', mode: 'deny' },
        { rule: 'b', mode: 'deny' },
        { rule: 'c', mode: 'warn' },
      ],
      auditAnnotations: { rules: 'a,b' },
    });
    const { response } = (await post(admissionReview())).json<{ response: Record<string, unknown> }>();
    expect(response).toMatchObject({
      allowed: false,
      status: {
        code: 422,
        reason: 'Invalid',
        message: 'HTTPRoute shop/cart is invalid: a, b',
        details: { kind: 'HTTPRoute', name: 'cart' },
      },
      warnings: ['c d'],
      auditAnnotations: { rules: 'a,b' },
    });
    expect(response).toHaveProperty('status.details.causes.1', {
      field: 'spec.b',
      message: 'b',
      reason: 'FieldValueRequired',
    });
    const counted = [
      ['a', 'deny'],
      ['b', 'deny'],
      ['c', 'warn'],
    ].map(([rule = '', mode = '']) => ground.metrics.findings.at(rule, mode).value);
    expect(counted).toEqual([1, 1, 1]);
  });

  test('logs a denial, and what would be one, with the rules and without the object', async () => {
    const findings = [
      { rule: 'b', mode: 'would-deny' },
      { rule: 'a', mode: 'would-deny' },
      { rule: 'b', mode: 'would-deny' },
      { rule: 'c', mode: 'record' },
    ] as const;
    decide = () => ({ ...allow, findings });
    await post(admissionReview({ dryRun: true }));
    decide = () => ({
      ...allow,
      findings: [
        { rule: 'c', mode: 'record' },
        { rule: 'd', mode: 'warn' },
        { rule: 'e', mode: 'tolerate' },
      ],
    });
    await post(admissionReview());
    const lines = ground.logged
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => String(msg).startsWith('write'));
    expect(lines).toEqual([
      {
        time: expect.any(String),
        level: 'info',
        msg: 'write would be denied',
        uid: 'b7a1c5e2',
        operation: 'CREATE',
        kind: 'HTTPRoute',
        namespace: 'shop',
        name: 'cart',
        dryRun: true,
        rules: ['a', 'b'],
      },
    ]);
  });

  test('passes on how long the API server waits', async () => {
    await post(admissionReview(), { url: '/validate?timeout=3s' });
    await post(admissionReview());
    expect(asked[0]?.budgetMs).toBeLessThanOrEqual(3000);
    expect(asked[0]?.budgetMs).toBeGreaterThan(0);
    expect(asked[1]?.budgetMs).toBeGreaterThan(3000);
  });

  test('asks about deletions, with the old object', async () => {
    await post(admissionReview({ operation: 'DELETE', object: null, oldObject: { metadata: { name: 'cart' } } }));
    expect(asked).toMatchObject([
      { operation: 'DELETE', object: undefined, oldObject: { metadata: { name: 'cart' } } },
    ]);
  });

  test('leaves objects of any kind and shape to the decision', async () => {
    for (const object of [null, 7, [], 'text', { spec: 'text' }])
      await post(admissionReview({ object, kind: { group: 'example.com', version: 'v1', kind: 'Unknown' } }));
    expect(asked.map(({ object }) => object)).toEqual([undefined, 7, [], 'text', { spec: 'text' }]);
  });

  test.each([{ subResource: 'status', operation: 'UPDATE' }, { subResource: 'scale' }, { operation: 'CONNECT' }])(
    'allows without judging: %j',
    async (changes) => {
      decide = () => {
        throw new Error('not to be asked');
      };
      expect((await post(admissionReview(changes))).json()).toMatchObject({
        response: { uid: 'b7a1c5e2', allowed: true },
      });
      expect(asked).toEqual([]);
    },
  );

  const noType = { headers: {} };
  const yaml = { headers: { 'content-type': 'application/yaml' } };
  const refused: {
    what: string;
    payload: string | object | undefined;
    sent?: InjectOptions;
    code: number;
    text: string;
  }[] = [
    { what: 'no body', payload: undefined, code: 400, text: 'the body is empty' },
    { what: 'no body and no content type', payload: undefined, sent: noType, code: 400, text: 'the body is empty' },
    { what: 'half a body', payload: '{"apiVersion":', code: 400, text: 'the body is not JSON' },
    { what: 'no request', payload: { ...admissionReview(), request: null }, code: 400, text: 'request.uid is missing' },
    { what: 'no uid', payload: admissionReview({ uid: undefined }), code: 400, text: 'request.uid is missing' },
    {
      what: 'another version',
      payload: { ...admissionReview(), apiVersion: 'admission.k8s.io/v1beta1' },
      code: 400,
      text: 'admissionReviewVersions: ["v1"]',
    },
    { what: 'another kind', payload: { ...admissionReview(), kind: 'Status' }, code: 400, text: 'found kind "Status"' },
    {
      what: 'another content type',
      payload: 'apiVersion: v1',
      sent: yaml,
      code: 415,
      text: 'Content-Type: application/json',
    },
    {
      what: 'too much',
      payload: `"${'x'.repeat(7 * 1024 * 1024)}"`,
      code: 413,
      text: 'larger than an AdmissionReview can be',
    },
  ];
  test.each(refused)(
    'answers $what with an error status, so that the failurePolicy decides',
    async ({ payload, sent, code, text }) => {
      const response = await post(payload, sent);
      expect(response.statusCode).toBe(code);
      expect(response.headers['content-type']).toMatch(/^text\/plain\b/);
      expect(response.headers).not.toHaveProperty('retry-after');
      expect(response.body).toContain(text);
      expect(asked).toEqual([]);
      expect((await post(admissionReview())).statusCode).toBe(200);
    },
  );

  test('takes reviews of two large objects', async () => {
    const object = { data: 'x'.repeat(3 * 1024 * 1024) };
    const response = await post(admissionReview({ operation: 'UPDATE', object, oldObject: object }));
    expect(response.json()).toMatchObject({ response: { allowed: true } });
  });

  test('fails the call when the decision throws, logs it once without the object, and lives on', async () => {
    decide = () => {
      throw new Error('boom');
    };
    const response = await post(admissionReview({ object: { spec: 'do-not-log' } }));
    expect(response.statusCode).toBe(500);
    expect(response.body).toContain('b7a1c5e2');
    expect(response.body).not.toContain('boom');
    expect(ground.logged).toHaveLength(1);
    expect(JSON.parse(ground.logged[0] ?? '')).toMatchObject({
      level: 'error',
      msg: 'admission decision failed',
      kind: 'HTTPRoute',
      namespace: 'shop',
      name: 'cart',
      err: { message: 'boom' },
    });
    expect(ground.logged[0]).not.toContain('do-not-log');
    decide = () => allow;
    expect((await post(admissionReview())).statusCode).toBe(200);
  });

  test('logs nothing of ordinary requests', async () => {
    await post(admissionReview());
    await post('nonsense');
    expect(ground.logged).toEqual([]);
  });

  test('counts kinds that clients invent together', async () => {
    for (const kind of ['Cart', 'Basket'])
      await post(admissionReview({ kind: { group: 'gateway.networking.k8s.io', version: 'v1', kind } }));
    expect(await ground.scrape()).toContain(
      'sallyport_admission_requests_total{kind="other",operation="CREATE",verdict="allowed",dry_run="false"} 2',
    );
  });

  test('counts requests, times and what was degraded', async () => {
    await post(admissionReview());
    await post(admissionReview({ dryRun: true, operation: 'UPDATE' }));
    await post('nonsense');
    await post('a: b', yaml);
    decide = () => {
      throw new Error('boom');
    };
    await post(admissionReview());
    const lines = (await ground.scrape()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'sallyport_admission_requests_total{kind="HTTPRoute",operation="CREATE",verdict="allowed",dry_run="false"} 1',
        'sallyport_admission_requests_total{kind="HTTPRoute",operation="UPDATE",verdict="allowed",dry_run="true"} 1',
        'sallyport_admission_requests_total{kind="HTTPRoute",operation="CREATE",verdict="error",dry_run="false"} 1',
        'sallyport_admission_degraded_total{reason="malformed"} 1',
        'sallyport_admission_degraded_total{reason="content-type"} 1',
        'sallyport_admission_degraded_total{reason="error"} 1',
        'sallyport_admission_duration_seconds_count{operation="CREATE"} 2',
      ]),
    );
  });

  test('counts what is in flight while it is', async () => {
    let during = 0;
    decide = () => {
      during = ground.metrics.inflight.value;
      return allow;
    };
    await post(admissionReview());
    expect(during).toBe(1);
  });
});

describe('other requests', () => {
  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)(
    '%s /validate is not allowed',
    async (method) => {
      const response = await app.inject({ method, url: '/validate' });
      expect(response.statusCode).toBe(405);
      expect(response.headers['allow']).toBe('POST');
    },
  );

  test('another path is not found', async () => {
    const response = await app.inject({ method: 'POST', url: '/mutate', payload: {} });
    expect(response.statusCode).toBe(404);
    expect(response.body).toContain('/validate');
  });
});

describe('draining', () => {
  test('asks clients to open their next connection elsewhere, and answers all the same', async () => {
    let draining = false;
    const server = buildWebhook({ ...ground, decide: atOnce(() => allow), draining: () => draining });
    const send = () =>
      server.inject({
        method: 'POST',
        url: '/validate',
        headers: { 'content-type': 'application/json' },
        payload: admissionReview(),
      });
    expect((await send()).headers['connection']).not.toBe('close');
    draining = true;
    const response = await send();
    expect(response.headers['connection']).toBe('close');
    expect(response.json()).toMatchObject({ response: { allowed: true } });
    await server.close();
  });
});
