import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { createClient, loadCredentials, type ApiClient } from '../../src/kubernetes/index.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { getObject } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { waitFor } from './support/wait.ts';
import {
  installSallyport,
  metricSum,
  replaceSettings,
  systemNamespace,
  uninstallSallyport,
  waitForFailurePolicy,
  webhookConfiguration,
  webhookPods,
} from './support/sallyport.ts';

// Reviews as the API server sends them, straight to the Service, and the biggest that it can be made to send.
const namespace = useNamespace('reviews');
const mebibyte = 1024 * 1024;

let client: ApiClient;
let address: string;
let authorities: string;

beforeAll(async () => {
  client = createClient(await loadCredentials('default'));
  await installCrds('v1.7.0', 'standard');
  await installSallyport('enforce');
  const service = await getObject<{ spec: { clusterIP: string } }>([
    'service',
    'sallyport-webhook',
    '-n',
    systemNamespace,
  ]);
  const configuration = await getObject<{ webhooks: readonly [{ clientConfig: { caBundle: string } }] }>([
    'validatingwebhookconfiguration',
    webhookConfiguration,
  ]);
  address = service.spec.clusterIP;
  authorities = Buffer.from(configuration.webhooks[0].clientConfig.caBundle, 'base64').toString();
});

afterAll(async () => {
  await uninstallSallyport();
  await removeCrds();
  await client.close();
});

interface Answer {
  readonly status: number;
  readonly body: string;
}

async function send(
  body: string,
  options: { readonly method?: string; readonly path?: string; readonly type?: string } = {},
): Promise<Answer> {
  const { method = 'POST', path = '/validate?timeout=5s', type = 'application/json' } = options;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        // One connection each: a refusal may end it under the next request.
        agent: false,
        host: address,
        servername: `sallyport-webhook.${systemNamespace}.svc`,
        ca: authorities,
        method,
        path,
        headers: { 'content-type': type, 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        resolve(text(response).then((answer) => ({ status: response.statusCode ?? 0, body: answer })));
      },
    );
    // A refusal may come, and the connection go, before a large body is sent.
    sent.on('error', reject).end(body);
  });
}

function review(changes: object = {}): object {
  const kind = { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'HTTPRoute' };
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'e2e',
      kind,
      requestKind: kind,
      resource: { group: kind.group, version: kind.version, resource: 'httproutes' },
      name: 'cart',
      namespace,
      operation: 'CREATE',
      userInfo: { username: 'jane' },
      dryRun: true,
      object: httpRoute({ name: 'cart', namespace }, { rules: [{}] }),
      ...changes,
    },
  };
}

/** A review of exactly so many bytes. */
function reviewOf(bytes: number): string {
  const withNote = (note: string): string =>
    JSON.stringify(review({ object: { ...httpRoute({ name: 'cart', namespace }, { rules: [{}] }), note } }));
  return withNote('a'.repeat(bytes - withNote('').length));
}

/** A route whose values have so many bytes together. */
function routeOf(bytes: number, name: string, character: string): object {
  const header = (_: unknown, index: number): object => ({ name: `h${index}`, value: character.repeat(4096) });
  const headers = Array.from({ length: Math.ceil(bytes / 4096) }, header);
  const matches = Array.from({ length: Math.ceil(headers.length / 16) }, (_, index) => ({
    headers: headers.slice(16 * index, 16 * index + 16).map((entry, position) => ({ ...entry, name: `h${position}` })),
  }));
  return httpRoute(
    { name, namespace },
    {
      rules: Array.from({ length: Math.ceil(matches.length / 8) }, (_, index) => ({
        matches: matches.slice(8 * index, 8 * index + 8),
      })),
    },
  );
}

async function create(route: object): Promise<unknown> {
  return client.request({
    method: 'POST',
    path: `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/httproutes`,
    body: route,
  });
}

async function degraded(reason: string): Promise<number> {
  return metricSum(`sallyport_admission_degraded_total{reason="${reason}"}`);
}

async function restarts(): Promise<number> {
  return (await webhookPods()).reduce((sum, pod) => sum + pod.restarts, 0);
}

describe('a review of', () => {
  test('two objects of 2.9 MiB each is answered', async () => {
    const object = { ...httpRoute({ name: 'cart', namespace }, { rules: [{}] }), note: 'a'.repeat(2.9 * mebibyte) };
    const { status, body } = await send(JSON.stringify(review({ operation: 'UPDATE', object, oldObject: object })));
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ response: { uid: 'e2e', allowed: true } });
  });

  test('an object of 6.5 MiB, which no request to the API server can have, is answered with a denial', async () => {
    const { status, body } = await send(reviewOf(6.5 * mebibyte));
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({
      response: { uid: 'e2e', allowed: false, status: { message: expect.stringContaining('more than 3 MiB') } },
    });
  });

  test('6.5 MiB is answered sixteen times at once, within the memory of the pods', async () => {
    const body = reviewOf(6.5 * mebibyte);
    const answers = await Promise.all(Array.from({ length: 16 }, () => send(body)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 200));
    expect(await restarts()).toBe(0);
  });

  test('8 MiB is refused, and counted', async () => {
    const before = await degraded('too-large');
    const answer = await send(reviewOf(8 * mebibyte)).catch((error: NodeJS.ErrnoException) => error.code);
    expect([
      { status: 413, body: 'the body is larger than an AdmissionReview can be, or arrives in too many pieces\n' },
      'EPIPE',
      'ECONNRESET',
    ]).toContainEqual(answer);
    expect(await degraded('too-large')).toBe(before + 1);
  });
});

describe('what is no review', () => {
  test.each([
    {
      what: 'empty',
      body: '',
      status: 400,
      says: 'the body is empty; send an AdmissionReview of admission.k8s.io/v1 as JSON',
    },
    {
      what: 'no JSON',
      body: '{"kind":',
      status: 400,
      says: 'the body is not JSON; send an AdmissionReview of admission.k8s.io/v1 as JSON',
    },
    {
      what: 'request: null',
      body: JSON.stringify({ ...review(), request: null }),
      status: 400,
      says: 'request.uid is missing; an AdmissionReview for the webhook has a request with a uid',
    },
    {
      what: 'of v1beta1',
      body: JSON.stringify({ ...review(), apiVersion: 'admission.k8s.io/v1beta1' }),
      status: 400,
      says: 'expected kind AdmissionReview of apiVersion admission.k8s.io/v1, found kind "AdmissionReview" of apiVersion "admission.k8s.io/v1beta1"; set admissionReviewVersions: ["v1"] in the webhook configuration',
    },
    {
      what: 'of an unknown operation',
      body: JSON.stringify(review({ operation: 'READ' })),
      status: 400,
      says: 'request.operation is "READ"; send one of CREATE, UPDATE, DELETE, CONNECT',
    },
    {
      what: 'of another content type',
      body: JSON.stringify(review()),
      options: { type: 'text/plain' },
      status: 415,
      says: 'send the AdmissionReview with Content-Type: application/json',
    },
    {
      what: 'sent with GET',
      body: '',
      options: { method: 'GET' },
      status: 405,
      says: 'send an AdmissionReview with POST',
    },
    {
      what: 'sent elsewhere',
      body: JSON.stringify(review()),
      options: { path: '/' },
      status: 404,
      says: 'not found; send an AdmissionReview to /validate',
    },
  ])('$what, is refused with what to send', async ({ body, options, status, says }) => {
    expect(await send(body, options)).toEqual({ status, body: `${says}\n` });
  });

  test('is counted', async () => {
    const before = await degraded('malformed');
    await send('[]');
    expect(await degraded('malformed')).toBe(before + 1);
  });
});

test.each([
  ['a kind that nobody knows', { kind: { group: 'example.net', version: 'v1', kind: 'Thing' } }],
  ['an object that is none', { object: 5 }],
  ['a kind other than the object', { kind: { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'Gateway' } }],
])('%s is let pass', async (_, changes) => {
  expect(JSON.parse((await send(JSON.stringify(review(changes)))).body)).toEqual({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: 'e2e', allowed: true, warnings: [], auditAnnotations: {} },
  });
});

// In a review the API server writes each "<" in six characters, and so does what it stores.
describe('an object full of "<"', () => {
  const largestStored = 240_000;

  test('is judged at creation and update, where it is as large as can be stored', async () => {
    const counted = async (operation: string): Promise<number> =>
      metricSum(
        `sallyport_admission_requests_total{kind="HTTPRoute",operation="${operation}",verdict="allowed",dry_run="false"}`,
      );
    const [creations, updates] = [await counted('CREATE'), await counted('UPDATE')];
    await create(routeOf(largestStored, 'largest', '<'));
    await client.request({
      method: 'PATCH',
      path: `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/httproutes/largest`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { team: 'shop' } } },
    });
    expect([await counted('CREATE'), await counted('UPDATE')]).toEqual([creations + 1, updates + 1]);
    await expect(create(routeOf(1.2 * largestStored, 'larger', '<'))).rejects.toMatchObject({
      message: expect.stringContaining('etcdserver: request is too large'),
    });
  });

  test('of 2 MB makes a review above the limit, which fails under failurePolicy Fail', async () => {
    const before = await degraded('too-large');
    await expect(create(routeOf(2_000_000, 'huge', '<'))).rejects.toMatchObject({
      message: expect.stringContaining('failed calling webhook "validate.gateway.sallyport.dev"'),
    });
    expect(await degraded('too-large')).toBe(before + 1);
    expect(await restarts()).toBe(0);
  });

  test('of 2 MB is not stored under Ignore either', async () => {
    await replaceSettings({ failurePolicy: 'Ignore' });
    await waitForFailurePolicy('Ignore');
    // The API server follows what it stores a moment later.
    const refusal = await waitFor('nobody asks the webhook', async () => {
      const message = await create(routeOf(2_000_000, 'huge', '<')).then(() => 'stored', String);
      return message.includes('failed calling webhook') ? undefined : message;
    });
    // The client of etcd refuses before etcd does.
    expect(refusal).toContain('trying to send message larger than max');
  });
});
