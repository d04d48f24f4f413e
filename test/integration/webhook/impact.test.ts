import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../../src/certificates/index.ts';
import { defaultSettings } from '../../../src/core/admission/settings.ts';
import { impactInCluster } from '../../../src/webhook/impact-decision.ts';
import { buildWebhook, type WebhookOptions } from '../../../src/webhook/index.ts';
import { admissionReview, allow, atOnce, webhookGround, type WebhookGround } from '../../support/webhook.ts';
import { webhookKernel } from '../../support/webhook-kernel.ts';

const gateway = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'front', namespace: 'shop' },
  spec: {
    gatewayClassName: 'sallyport',
    listeners: [
      { name: 'web', port: 80, protocol: 'HTTP' },
      { name: 'secure', port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'shop' }] } },
    ],
  },
};
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'cart', namespace: 'shop' },
  spec: { type: 'ClusterIP', ports: [{ port: 80 }] },
};
const route = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'store', namespace: 'shop' },
  spec: {
    parentRefs: [{ name: 'front', sectionName: 'web' }],
    hostnames: ['shop.example.com'],
    rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/cart' } }], backendRefs: [{ name: 'cart', port: 80 }] }],
  },
};

let ground: WebhookGround;
let app: ReturnType<typeof buildWebhook>;

async function serve(options: Pick<WebhookOptions, 'impact'>): Promise<void> {
  app = buildWebhook({ ...ground, ...options, decide: atOnce(() => allow) });
  await app.listen({ host: '127.0.0.1', port: 0 });
}

beforeEach(async () => {
  ground = await webhookGround();
});

afterEach(() => app.close());

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

function post(path: string, review: object): Promise<Answer> {
  const body = JSON.stringify(review);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  httpsRequest(
    {
      host: '127.0.0.1',
      port: (app.server.address() as AddressInfo).port,
      servername: 'localhost',
      path,
      method: 'POST',
      ca: ground.authority.certificate,
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    },
    (response) => resolve(text(response).then((answer) => ({ status: response.statusCode, body: answer }))),
  )
    .on('error', reject)
    .end(body);
  return promise;
}

/** The review of a deletion, or of an update with `object`. */
function reviewOf(oldObject: { kind: string; metadata: object }, object?: object, more: object = {}): object {
  const kind = { group: '', version: 'v1', kind: oldObject.kind };
  const operation = object === undefined ? 'DELETE' : 'UPDATE';
  return admissionReview({
    ...oldObject.metadata,
    kind,
    requestKind: kind,
    operation,
    object: object ?? null,
    oldObject,
    ...more,
  });
}

describe('POST /impact', () => {
  beforeEach(async () => {
    const kernel = webhookKernel(gateway, service, route);
    await serve({ impact: (request) => impactInCluster(request, { kernel, settings: () => defaultSettings }) });
  });

  test('warns about the routes that a deletion breaks, also in a dry run', async () => {
    for (const dryRun of [false, true]) {
      const { status, body } = await post('/impact?timeout=1s', reviewOf(service, undefined, { dryRun }));
      expect(status).toBe(200);
      expect(JSON.parse(body)).toMatchObject({
        response: {
          uid: 'b7a1c5e2',
          allowed: true,
          warnings: [
            '[impact] Deleting Service shop/cart leaves HTTPRoute shop/store without a backend: requests for shop.example.com/cart will get 500.',
          ],
        },
      });
    }
    const metrics = await ground.scrape();
    for (const dryRun of ['false', 'true'])
      expect(metrics).toContain(
        `sallyport_admission_requests_total{kind="Service",operation="DELETE",verdict="allowed",dry_run="${dryRun}"} 1`,
      );
  });

  test('never shows or logs the content of a Secret', async () => {
    const authority = await createAuthority();
    const { certificate, privateKey } = await issueServingCertificate(authority, {
      dnsNames: ['shop.example.com'],
      ipAddresses: [],
    });
    const [shown, hidden] = [certificate, privateKey].map((pem) => Buffer.from(pem).toString('base64'));
    const secret = (data: object) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'shop', namespace: 'shop' },
      type: 'kubernetes.io/tls',
      data,
    });
    const valid = secret({ 'tls.crt': shown, 'tls.key': hidden });
    const answers = await Promise.all([
      post('/impact', reviewOf(valid)),
      post('/impact', reviewOf(valid, secret({ 'tls.crt': hidden, 'tls.key': hidden }))),
      // Values of wrong types, and an object that is large enough to be parsed in steps.
      post('/impact', reviewOf(valid, secret({ 'tls.crt': 5, 'tls.key': [hidden] }))),
      post('/impact', reviewOf(secret({ 'tls.crt': 'x'.repeat(100_000), 'tls.key': hidden }), valid)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const told = answers.map(({ body }) => body).join('');
    expect(told).toContain('leaves listener secure of Gateway shop/front without a certificate');
    const lines = privateKey.split('\n').filter((line) => line.length > 20 && !line.startsWith('-'));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of [hidden ?? '', ...lines]) {
      expect(told).not.toContain(line);
      expect(ground.logged.join('')).not.toContain(line);
    }
  });

  test.each<[string, object]>([
    ['a deletion without the old object', reviewOf(service, undefined, { oldObject: null })],
    [
      'an update that changes nothing relevant',
      reviewOf(service, { ...service, spec: { ...service.spec, selector: { app: 'cart' } } }),
    ],
    ['a status', reviewOf(service, { ...service, spec: {} }, { subResource: 'status' })],
    ['an object of the Gateway API', admissionReview()],
    ['what is no object', reviewOf({ ...service, metadata: {} }, undefined, { oldObject: 5 })],
  ])('admits %s silently', async (_, review) => {
    const { status, body } = await post('/impact', review);
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ response: { allowed: true, warnings: [] } });
  });

  test('is beside POST /validate, and limited like it', async () => {
    expect((await post('/validate', admissionReview())).status).toBe(200);
    expect((await post('/impact', { kind: 'Other' })).status).toBe(400);
    expect((await app.inject({ method: 'GET', url: '/impact' })).statusCode).toBe(405);
  });
});

test('without the option, /impact does not exist', async () => {
  await serve({});
  expect((await post('/impact', reviewOf(service))).status).toBe(404);
  expect((await post('/validate', admissionReview())).status).toBe(200);
});
