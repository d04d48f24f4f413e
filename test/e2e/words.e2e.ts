import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { apply, kubectl, type Outcome } from './support/kubectl.ts';
import { backend, httpRoute, service } from './support/routes.ts';
import { installSallyport, uninstallSallyport } from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// What a user reads. Nothing here is refused by the CRDs themselves: such objects never reach a webhook.
const namespace = useNamespace('words');
const other = useNamespace('words-other');

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await apply(service(namespace));
  // One, so that what it has heard of is what the next call is judged by.
  await installSallyport('enforce', { replicas: 1 });
});

afterAll(async () => {
  await uninstallSallyport();
  await removeCrds();
});

const ways = [
  { way: 'client-side apply', flags: [] },
  { way: 'server-side apply', flags: ['--server-side'] },
  { way: 'a dry run on the server', flags: ['--dry-run=server'] },
  { way: 'a server-side apply as a dry run', flags: ['--server-side', '--dry-run=server'] },
] as const;

const versions = ['v1', 'v1beta1'] as const;

async function applied(manifest: object, flags: readonly string[] = []): Promise<Outcome> {
  return kubectl(['apply', ...flags, '-f', '-'], { stdin: JSON.stringify(manifest) });
}

/** A route of which each rule takes headers away. */
function removing(name: string, headers: readonly (readonly string[])[], version: string = 'v1'): object {
  const rules = headers.map((remove, index) => ({
    matches: [{ path: { type: 'PathPrefix', value: `/${index}` } }],
    filters: [
      { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'X-Shop', value: 'cart' }], remove } },
    ],
    backendRefs: [backend],
  }));
  return httpRoute({ name, namespace }, { rules }, version);
}

const remove = 'spec.rules[0].filters[0].requestHeaderModifier.remove';
const twice =
  'Duplicate header "x-shop": it is also in set, and the order of the two is undefined (header names ignore case). Use only one of set, add and remove for it. [header-acted-on-twice]';
const noName = (name: string): string =>
  `Invalid header name "${name}". Use letters, digits and hyphens, for example x-request-id. [header-name-not-token]`;

describe.each(versions)('a client of %s', (version) => {
  const superseded =
    version === 'v1'
      ? ''
      : 'Warning: [version-superseded] apiVersion: Deprecated version gateway.networking.k8s.io/v1beta1: it will be removed. Use gateway.networking.k8s.io/v1.\n';

  test.each(ways)('reads one finding on one line, by $way', async ({ flags }) => {
    expect(await applied(removing('one', [['x-shop']], version), flags)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${superseded}The HTTPRoute "one" is invalid: ${remove}[0]: ${twice}\n`,
    });
  });

  test.each(ways)('reads two findings as a list, by $way', async ({ flags }) => {
    expect(await applied(removing('two', [['x-shop', 'x shop']], version), flags)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${superseded}The HTTPRoute "two" is invalid: \n* ${remove}[1]: ${noName('x shop')}\n* ${remove}[0]: ${twice}\n`,
    });
  });
});

test('all of fifty findings are told', async () => {
  const bad = (rule: number, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `bad ${rule} ${index}`);
  const counts = [16, 16, 16, 2];
  const { code, stderr } = await applied(
    removing(
      'fifty',
      counts.map((count, rule) => bad(rule, count)),
    ),
  );
  const lines = counts.flatMap((count, rule) =>
    bad(rule, count).map(
      (name, index) => `* spec.rules[${rule}].filters[0].requestHeaderModifier.remove[${index}]: ${noName(name)}\n`,
    ),
  );
  expect(code).toBe(1);
  expect(lines).toHaveLength(50);
  expect(stderr).toBe(`The HTTPRoute "fifty" is invalid: \n${lines.join('')}`);
});

test('an object that was refused is not there', async () => {
  expect(await kubectl(['get', 'httproutes', '-n', namespace, '-o', 'name'])).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

describe('warnings', () => {
  const route = httpRoute(
    { name: 'warned', namespace },
    {
      parentRefs: [{ name: 'front' }],
      rules: [
        {
          backendRefs: [
            { name: 'cart', port: 80 },
            { name: 'stock', namespace: other, port: 80 },
          ],
        },
      ],
    },
  );
  const warnings = [
    `Warning: [parent-not-found] spec.parentRefs[0]: Gateway "${namespace}/front" not found. Check its name and namespace, or create it. Until then, the route is not attached to it.\n`,
    `Warning: [backend-not-found] spec.rules[0].backendRefs[0]: Service "${namespace}/cart" not found. Check its name and namespace, or create it. Until then, its share of requests is answered with 500.\n`,
    `Warning: [backend-not-permitted] spec.rules[0].backendRefs[1]: Service "${other}/stock" is in another namespace, and no ReferenceGrant there permits this reference. Until then, its share of requests is answered with 500.\n`,
  ].join('');

  test('come with an object that is admitted', async () => {
    expect(await applied(route, ['--server-side', '--dry-run=server'])).toEqual({
      code: 0,
      stdout: 'httproute.gateway.networking.k8s.io/warned serverside-applied (server dry run)\n',
      stderr: warnings,
    });
    expect(await applied(route, ['--server-side'])).toEqual({
      code: 0,
      stdout: 'httproute.gateway.networking.k8s.io/warned serverside-applied\n',
      stderr: warnings,
    });
  });

  test('end when the objects are there that they ask for', async () => {
    await apply(
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'GatewayClass',
        metadata: { name: 'words' },
        spec: { controllerName: 'sallyport.dev/gateway-controller' },
      },
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'Gateway',
        metadata: { name: 'front', namespace },
        spec: { gatewayClassName: 'words', listeners: [{ name: 'web', protocol: 'HTTP', port: 80 }] },
      },
      service(namespace, 'cart'),
      service(other, 'stock'),
      {
        apiVersion: 'gateway.networking.k8s.io/v1beta1',
        kind: 'ReferenceGrant',
        metadata: { name: 'words', namespace: other },
        spec: {
          from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace }],
          to: [{ group: '', kind: 'Service' }],
        },
      },
    );
    // The webhook has to hear of them first.
    const changed = { ...route, spec: { ...(route as { spec: object }).spec, hostnames: ['shop.example'] } };
    const quiet = await waitFor('silence', async () => {
      const outcome = await applied(changed, ['--server-side', '--dry-run=server']);
      return outcome.stderr === '' ? outcome : undefined;
    });
    expect(quiet.code).toBe(0);
  });

  // The API server shows 256 characters of a warning.
  test.each([
    {
      what: 'the Gateway',
      args: ['gateway', 'front', '-n', namespace],
      object: `Gateway ${namespace}/front`,
      breaks: `spec.parentRefs[0]: Gateway "${namespace}/front" not found. Check its name and namespace, or create it. Until then, the route is not attached to it.`,
    },
    {
      what: 'the ReferenceGrant',
      args: ['referencegrant', 'words', '-n', other],
      object: `ReferenceGrant ${other}/words`,
      breaks: `spec.rules[0].backendRefs[1]: Service "${other}/stock" is in another namespace, and no ReferenceGrant there permits this reference. Until then, its share of requests is answered with 500.`,
    },
  ])('tell what deleting $what breaks', async ({ args, object, breaks }) => {
    const text = `[impact] Deleting ${object} breaks HTTPRoute "${namespace}/warned": ${breaks}`;
    const warning = `Warning: ${text.length > 256 ? `${text.slice(0, 255)}…` : text}\n`;
    expect((await kubectl(['delete', '--dry-run=server', ...args])).stderr).toBe(warning);
    expect(await kubectl(['delete', ...args])).toMatchObject({ code: 0, stderr: warning });
  });
});
