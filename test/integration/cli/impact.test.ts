import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startProgram } from '../../support/program.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-impact-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function outcome(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }> {
  const program = startProgram('impact', ...args);
  const code = await program.ended();
  return { code, output: program.output(), errors: program.errors() };
}

async function file(name: string, yaml: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, yaml);
  return path;
}

const quickstart = ['-f', 'examples/quickstart'];

describe('sallyport impact', () => {
  test('a Service that is deleted breaks the requests that it gets', async () => {
    const { code, output } = await outcome(...quickstart, '--delete', 'service/shop/cart');
    expect(output).toContain('Breaks\n  GET http://store.example.com/cart at Gateway infra/public\n');
    expect(output).toMatch(/after: {2}HTTPRoute shop\/store rule 1 match 0: 9 of 10 500 /);
    expect(output).toMatch(
      /HTTPRoute shop\/store, parent infra\/public: ResolvedRefs\n {4}before: .*\n {4}after: {2}False \(BackendNotFound\)/,
    );
    expect(code).toBe(1);
  });

  test('a Namespace is deleted with everything in it', async () => {
    const { code, output } = await outcome(...quickstart, '--delete', 'namespace/shop', '-o', 'json');
    const { statuses, routing } = JSON.parse(output) as {
      readonly statuses: readonly { readonly object: string }[];
      readonly routing: readonly { readonly request?: string; readonly after: unknown }[];
    };
    expect(statuses.filter(({ object }) => object.startsWith('HTTPRoute shop/'))).toEqual([]);
    expect(JSON.stringify(routing)).toContain('http://store.example.com/cart');
    expect(code).toBe(1);
    expect((await outcome(...quickstart, '--delete', 'namespace/nothing')).code).toBe(2);
  });

  test('a Gateway that is deleted breaks everything behind it, and JSON has it all', async () => {
    const { code, output } = await outcome(...quickstart, '--delete', 'gateways/infra/public', '-o', 'json');
    const report = JSON.parse(output) as {
      readonly statuses: readonly { readonly object: string; readonly condition: string; readonly effect: string }[];
      readonly routing: readonly { readonly effect: string; readonly after: unknown }[];
    };
    expect(report.statuses).toContainEqual({
      object: 'HTTPRoute shop/store',
      part: 'parent infra/public',
      condition: 'Accepted',
      before: { status: 'True', reason: 'Accepted', message: '' },
      effect: 'broken',
    });
    expect(report.statuses.filter(({ effect }) => effect === 'recovered')).toEqual([]);
    // A deleted object has no status.
    expect(report.statuses.filter(({ object }) => object === 'Gateway infra/public')).toEqual([]);
    expect(report.routing.filter(({ effect }) => effect === 'broken').length).toBeGreaterThan(3);
    expect(report.routing.every(({ after }) => (after as { readonly decision: string }).decision === 'none')).toBe(
      true,
    );
    expect(code).toBe(1);
  });

  test('what was broken recovers', async () => {
    const change = await file(
      'grant.yaml',
      `
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: { name: invoices, namespace: billing }
spec:
  from: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop }]
  to: [{ group: "", kind: Service }]
---
apiVersion: v1
kind: Service
metadata: { name: invoices, namespace: billing }
spec: { ports: [{ port: 8080 }] }
`,
    );
    const { code, output } = await outcome(...quickstart, '--change', change);
    expect(output).toContain('Recovers\n  HTTPRoute shop/store, parent infra/public: ResolvedRefs\n');
    expect(output).not.toContain('Breaks');
    expect(code).toBe(0);
  });

  test('a change without effect says so, and --fail-on chooses the exit code', async () => {
    const change = await file(
      'unrelated.yaml',
      'apiVersion: v1\nkind: Service\nmetadata: { name: unrelated, namespace: shop }\nspec: { ports: [{ port: 80 }] }\n',
    );
    expect(await outcome(...quickstart, '--change', change, '--fail-on', 'changed')).toEqual({
      code: 0,
      output: '0 broken, 0 recovered, 0 changed\n',
      errors: '',
    });
    expect((await outcome(...quickstart, '--delete', 'service/shop/cart', '--fail-on', 'never')).code).toBe(0);
    expect((await outcome(...quickstart, '--delete', 'Service/shop/cart', '--fail-on', 'changed')).code).toBe(1);
  });

  test('hostnamePolicies of the settings decide about requests, as in sallyport run', async () => {
    const policy = '{ name: others, hostnames: ["*.example.com"], namespaces: { names: [others] } }';
    const settings = ['--settings', await file('settings.yaml', `hostnamePolicies: [${policy}]\n`)];
    const service = ['--delete', 'service/shop/cart'];
    expect((await outcome(...quickstart, ...service)).code).toBe(1);
    expect((await outcome(...quickstart, ...service, ...settings)).code).toBe(0);
  });

  test('session persistence that changes is shown before and after', async () => {
    const route = (rule: string): string =>
      `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: pages, namespace: shop }
spec:
  parentRefs: [{ name: public, namespace: infra }]
  hostnames: [pages.example.com]
  rules: [{ ${rule} backendRefs: [{ name: cart, port: 8080 }] }]
`;
    const before = await file('pages.yaml', route(''));
    const after = await file('pages-session.yaml', route('sessionPersistence: { cookie: { name: pages } },'));
    const { code, output } = await outcome(...quickstart, '-f', before, '--change', after);
    const [, was, is] = /before: (.*)\n +after: {2}(.*)\n/.exec(output) ?? [];
    expect(is).toBe(`${was}, keeps clients at their endpoint of each backend by cookie pages with path /`);
    expect(code).toBe(0);
  });

  test('session persistence of an XBackend that changes is shown before and after', async () => {
    const after = await file(
      'x-backend.yaml',
      `
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XBackend
metadata: { name: cart, namespace: shop }
spec: { type: EndpointSelector, endpointSelector: { matchLabels: { app: cart } }, port: { number: 8080 } }
`,
    );
    const { output } = await outcome('-f', 'test/golden/x-backend-sessions/input.yaml', '--change', after);
    const [, was, is] = /GET http:\/\/any\.example\/ at .*\n +before: (.*)\n +after: {2}(.*)\n/.exec(output) ?? [];
    const session =
      ', keeps clients at their endpoint of each backend by permanent cookie cart with path /, ends after 8h';
    expect(was).toContain(`XBackend/shop/cart/8080 as any.example/${session}`);
    expect(is).toBe(was?.replace(session, ''));
  });

  test('connections that no HTTP route gets are examples, too', async () => {
    const { code, output } = await outcome('-f', 'test/golden/tls-routes/input.yaml', '--delete', 'service/shop/mail');
    expect(output).toContain(
      '  tls://any.example.com:443 at Gateway shop/front\n    before: TLSRoute shop/later: to shop/mail/993\n    after:  TLSRoute shop/later: rejected: the backend cannot be used\n',
    );
    expect(output).toContain(
      '    before: TLSRoute shop/mail: 3 of 4 to shop/mail/993; 1 of 4 rejected: the backend cannot be used\n',
    );
    expect(code).toBe(1);
    const tcp = await outcome('-f', 'test/golden/tcp-routes/input.yaml', '--delete', 'tcproute/shop/first');
    expect(tcp.output).toContain(
      'tcp://front.shop:5432 at Gateway shop/front\n    before: TCPRoute shop/first: 9 of 12 ',
    );
  });

  test('Markdown is a table per effect, and values cannot leave their cell', async () => {
    const { output } = await outcome(...quickstart, '--delete', 'service/shop/cart', '-o', 'markdown');
    expect(output).toContain(
      '### Impact on Gateway API objects\n\n#### Breaks\n\n| | Before | After |\n|---|---|---|\n| GET http://store.example.com/cart at Gateway infra/public |',
    );
    const name = await file(
      'odd.yaml',
      `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: odd, namespace: shop }
spec: { parentRefs: [{ name: public, namespace: infra }], rules: [{ matches: [{ path: { value: "/a|<b>" } }], backendRefs: [{ name: cart, port: 8080 }] }] }
`,
    );
    const odd = await outcome(...quickstart, '--change', name, '-o', 'markdown');
    expect(odd.output).not.toMatch(/<b>|\/a\|/);
  });

  test.each([
    [['--delete', 'service/shop/nothing'], 'Service "shop/nothing" not found.'],
    [['--delete', 'service/cart'], 'Invalid object "service/cart" in --delete. Use service/NAMESPACE/NAME.'],
    [['--delete', 'pod/shop/cart'], 'Unsupported kind "pod"'],
    [[], 'No change: use --change or --delete.'],
    [['--change', 'missing.yaml'], 'missing.yaml'],
  ])('%j cannot be done: exit code 2', async (args, message) => {
    const { code, errors } = await outcome(...quickstart, ...args);
    expect(errors).toContain(message);
    expect(code).toBe(2);
  });
});
