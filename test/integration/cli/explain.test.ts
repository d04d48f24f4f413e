import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startProgram } from '../../support/program.ts';
import { gatewayObjects, serviceObjects } from '../../support/standalone-objects.ts';

async function outcome(...args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const program = startProgram(...args);
  const code = await program.ended();
  return { code, output: program.output() };
}

const quickstart = ['-f', 'examples/quickstart'];

describe('sallyport explain', () => {
  test('names rule and backends, and why the rules before it do not match', async () => {
    const { code, output } = await outcome('explain', ...quickstart, 'http://store.example.com/cart');
    expect(output).toContain('shop/store rule 1 (cart) match 0');
    expect(output).toContain('9 of 10 to shop/cart/8080: 127.0.0.1:9101');
    expect(output).toMatch(/rule 0 \(canary\) match 0 +header "x-version" is absent/);
    expect(code).toBe(0);
  });

  test('takes headers into account', async () => {
    const { output } = await outcome(
      'explain',
      ...quickstart,
      '-H',
      'x-version: next',
      'http://store.example.com/cart',
    );
    expect(output).toContain('1 of 1 to shop/cart-next/8080');
  });

  test('tells gRPC from other requests', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
    await writeFile(
      join(folder, 'objects.yaml'),
      `${gatewayObjects({ name: 'front', namespace: 'shop' }, '{ name: http, port: 80, protocol: HTTP }')}---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: cart, namespace: shop }
spec: { parentRefs: [{ name: front }], rules: [{ matches: [{ method: { service: shop.Cart } }], backendRefs: [{ name: gone, port: 80 }] }] }
`,
    );
    const url = 'http://store.example.com/shop.Cart/Add';
    const call = await outcome('explain', '-f', folder, '-X', 'POST', '-H', 'content-type: application/grpc', url);
    expect(call.output).toContain('GRPCRoute shop/cart rule 0 match 0');
    expect(call.output).toContain('1 of 1 answered UNAVAILABLE: BackendNotFound');
    expect(call.code).toBe(1);
    expect((await outcome('explain', '-f', folder, url)).output).toContain('header "content-type" is absent');
    await rm(folder, { recursive: true });
  });

  test('escapes control characters of the URL, which may be copied from elsewhere', async () => {
    const { output } = await outcome('explain', ...quickstart, 'http://nobody.example.com/\u001B[31m\nPASSED');
    expect(output).toContain('GET http://nobody.example.com/\\u001b[31m\\nPASSED\n');
  });

  test('ends with 1 where nobody answers', async () => {
    const { code, output } = await outcome('explain', ...quickstart, 'http://nobody.example.com/');
    expect(output).toContain('Answers 404: No route matches this request.');
    expect(code).toBe(1);
  });

  test('applies the hostnamePolicies of settings, as sallyport run does', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
    const settings = join(folder, 'settings.yaml');
    await writeFile(
      settings,
      'hostnamePolicies: [{ name: others, hostnames: ["*.example.com"], namespaces: { names: [others] } }]\n',
    );
    const url = 'http://store.example.com/cart';
    const { code, output } = await outcome('explain', ...quickstart, '--settings', settings, url);
    expect(output).toContain('Answers 404: No route matches this request.');
    expect(code).toBe(1);
    await rm(folder, { recursive: true });
  });

  test('says where no listener is', async () => {
    const { code, output } = await outcome('explain', ...quickstart, 'https://store.example.com/');
    expect(output).toContain('No listener found for HTTPS on port 443.');
    expect(code).toBe(1);
  });
});

describe('sallyport explain, for everything that a rule does', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
    await writeFile(join(folder, 'objects.yaml'), everything);
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('rejects files that it cannot read completely', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
    await writeFile(join(folder, 'broken.yaml'), 'kind: [HTTPRoute\n');
    const program = startProgram('explain', ...quickstart, '-f', folder, 'http://store.example.com/cart');
    expect(await program.ended()).toBe(2);
    expect(program.errors()).toContain('broken.yaml:');
    expect(program.output()).toBe('');
    await rm(folder, { recursive: true });
  });

  test('reports the failure of a backend whose BackendTLSPolicy is invalid, and ends with 1', async () => {
    const { code, output } = await outcome('explain', '-f', folder, 'http://shop.example.com/secure');
    expect(output).toMatch(/1 of 1 answered 500 \(shop\/secure\/8443\): .*BackendTLSPolicy/);
    expect(code).toBe(1);
  });

  test('reports mirrors, timeouts, retries, sessions, and the path and Host that the backend gets', async () => {
    const { code, output } = await outcome('explain', '-f', folder, 'http://shop.example.com/cart/1?q=2');
    expect(output).toContain('1 of 1 to shop/cart/80: 127.0.0.1:9101');
    expect(output).toContain('as cart.internal/basket/1?q=2');
    expect(output).toContain('mirrors 50 of 100 requests to shop/copy/80');
    expect(output).toContain('request timeout 10s');
    expect(output).toContain('retries 2 times on failed connections and status 503');
    expect(output).toContain(
      'keeps clients at their endpoint of each backend by cookie cart with path /, ends after 1h',
    );
    expect(code).toBe(0);
  });

  test('reports the sessions of an XBackend for its share', async () => {
    const { output } = await outcome('explain', '-f', 'test/golden/x-backend-sessions', 'http://front.example.com/');
    expect(output).toContain(
      '1 of 2 to XBackend/shop/cart/8080: 10.244.1.7:8080\n      as front.example.com/\n      keeps clients at their endpoint of each backend by permanent cookie cart with path /, ends after 8h\n',
    );
  });

  test('reports the answer to a CORS preflight', async () => {
    const preflight = ['-X', 'OPTIONS', '-H', 'Origin: https://a.example', '-H', 'Access-Control-Request-Method: GET'];
    const { output } = await outcome('explain', '-f', folder, ...preflight, 'http://shop.example.com/cors');
    expect(output).toContain('answers the CORS preflight with 204');
    expect(output).toContain('access-control-allow-origin: https://a.example');
  });

  test('reads the path as a data plane does', async () => {
    const { code, output } = await outcome(
      'explain',
      '-f',
      folder,
      'http://shop.example.com/cors/../cart/%2e%2e/%63art/1',
    );
    expect(output).toContain('as cart.internal/basket/1');
    expect(code).toBe(0);
  });

  test('prints JSON for machines', async () => {
    const { output } = await outcome('explain', '-f', folder, '-o', 'json', 'http://shop.example.com/cart');
    const { outcomes } = JSON.parse(output) as {
      readonly outcomes: readonly { readonly gateway: string; readonly shares: readonly unknown[] }[];
    };
    expect(outcomes.map(({ gateway, shares }) => [gateway, shares.length])).toEqual([['shop/front', 1]]);
  });

  test.each(['text', 'json'])('escapes invisible characters in %s', async (format) => {
    const { output } = await outcome('explain', '-f', folder, '-o', format, 'http://shop.example.com/odd');
    expect(output).toContain('\\u202e');
    expect(output).not.toMatch(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/u);
  });
});

const everything = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: sallyport }
spec: { controllerName: sallyport.dev/gateway-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: front, namespace: shop }
spec: { gatewayClassName: sallyport, listeners: [{ name: http, port: 80, protocol: HTTP }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: all, namespace: shop }
spec:
  parentRefs: [{ name: front }]
  rules:
  - matches: [{ path: { value: /secure } }]
    backendRefs: [{ name: secure, port: 8443 }]
  - matches: [{ path: { value: /cart } }]
    filters:
    - type: URLRewrite
      urlRewrite: { hostname: cart.internal, path: { type: ReplacePrefixMatch, replacePrefixMatch: /basket } }
    - type: RequestMirror
      requestMirror: { backendRef: { name: copy, port: 80 }, percent: 50 }
    timeouts: { request: 10s }
    retry: { attempts: 2, codes: [503] }
    sessionPersistence: { absoluteTimeout: 1h, cookie: { name: cart } }
    backendRefs: [{ name: cart, port: 80 }]
  - matches: [{ path: { value: /cors } }]
    filters:
    - type: CORS
      cors: { allowOrigins: ["https://a.example"], allowMethods: [GET] }
    backendRefs: [{ name: cart, port: 80 }]
  - matches: [{ path: { value: /odd }, headers: [{ name: x-odd, value: "\\u202e" }] }]
    filters:
    - type: RequestHeaderModifier
      requestHeaderModifier: { set: [{ name: x-odd, value: "\\u202e" }] }
    backendRefs: [{ name: cart, port: 80 }]
  - matches: [{ path: { value: /odd } }]
    filters:
    - type: RequestHeaderModifier
      requestHeaderModifier: { set: [{ name: x-odd, value: "\\u202e" }] }
    backendRefs: [{ name: cart, port: 80 }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: { name: secure, namespace: shop }
spec:
  targetRefs: [{ group: "", kind: Service, name: secure }]
  validation:
    hostname: secure.example.com
    caCertificateRefs: [{ group: "", kind: ConfigMap, name: gone }]
${['secure 8443 9102', 'cart 80 9101', 'copy 80 9103'].map(serviceOf).join('')}`;

function serviceOf(text: string): string {
  const [name = '', port, endpoint] = text.split(' ');
  return serviceObjects({ name, port: Number(port), endpoint: Number(endpoint) });
}

describe('sallyport explain, of connections', () => {
  const shown = (name: string, ...urls: readonly string[]) =>
    outcome('explain', '-f', `test/golden/${name}/input.yaml`, ...urls);

  test('tls:// finds listener and route by the server name', async () => {
    const { code, output } = await shown('tls-routes', 'tls://mail.example.com');
    expect(output).toContain('Gateway shop/front, listener passed (*.example.com), TLS passes through');
    expect(output).toContain('3 of 4 to shop/mail/993: 10.0.0.1:1993');
    expect(output).toContain('1 of 4 reset: BackendNotFound');
    expect(output).toMatch(/TLSRoute shop\/later mail\.example\.com +shadowed/);
    expect(code).toBe(1);
  });

  test('https:// tells that a TLS listener takes the connection', async () => {
    const { code, output } = await shown('tls-routes', 'https://other.example.com/');
    expect(output).toContain('1 of 1 to shop/mail/993');
    expect(code).toBe(0);
  });

  test('tcp:// and udp:// ask a Gateway by its name', async () => {
    const [tcp, udp, other] = await Promise.all([
      shown('udp-routes', 'tcp://front:53'),
      shown('udp-routes', '-o', 'json', 'udp://front.shop:53'),
      shown('udp-routes', 'udp://other:53'),
    ]);
    expect(tcp).toEqual({ code: 0, output: expect.stringContaining('1 of 1 to shop/dns/53: 10.0.0.1:1053') });
    expect(udp).toEqual({ code: 0, output: expect.stringContaining('"endpoints/shop/dns/53/UDP"') });
    expect(other).toEqual({
      code: 1,
      output: expect.stringContaining('No listener found for UDP on port 53 of a Gateway other.'),
    });
  });

  test('the PROXY protocol is told as the parameters of the Gateway have it', async () => {
    const networks = [...Array.from({ length: 20 }, (_, index) => `10.${index}.0.0/16`), '192.168.0.0/16'].join(', ');
    const ref = 'infrastructure: { parametersRef: { group: "", kind: ConfigMap, name: settings } }';
    const objects = (await readFile('test/golden/tcp-routes/input.yaml', 'utf8')).replace(
      '  listeners:',
      `  ${ref}\n  listeners:`,
    );
    const parameters = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: shop }\ndata: { acceptProxyProtocol: "${networks}", sendProxyProtocol: "v1, 5432=v2" }\n`;
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
    const file = join(folder, 'objects.yaml');
    await writeFile(file, `${objects}\n---\n${parameters}`);
    const { output } = await outcome('explain', '-f', file, 'tcp://front:5432');
    expect(output).toContain(`PROXY protocol: connections from ${networks} must begin with a header\n`);
    expect(output).toContain('PROXY protocol: backends get headers of v2\n');
    expect(JSON.parse((await outcome('explain', '-o', 'json', '-f', file, 'tcp://front:5432')).output)).toMatchObject({
      outcomes: [{ proxyProtocol: { accept: networks, send: 'v2' } }],
    });
    await rm(folder, { recursive: true });
  });

  test('shows the routability that a Gateway requests, and that of its addresses', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
    const file = join(folder, 'objects.yaml');
    await writeFile(
      file,
      `${gatewayObjects({ name: 'plain', namespace: 'shop' }, '{ name: http, port: 80, protocol: HTTP }')}---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: mixed, namespace: shop }
spec:
  gatewayClassName: test
  addresses: [{ type: IPAddress }, { type: IPAddress, routability: Cluster }, { type: IPAddress, routability: example.com/vpc }]
  listeners: [{ name: http, port: 80, protocol: HTTP }]
status:
  addresses: [{ type: IPAddress, value: 203.0.113.7 }, { type: IPAddress, value: 10.96.0.7, routability: Cluster }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: waiting, namespace: shop }
spec:
  gatewayClassName: test
  addresses: [{ type: IPAddress, routability: Cluster }]
  listeners: [{ name: http, port: 80, protocol: HTTP }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: unplaced }
spec:
  gatewayClassName: test
  listeners: [{ name: http, port: 80, protocol: HTTP }]
status:
  addresses: [{ value: 10.96.0.8, routability: Cluster }]
`,
    );
    const url = 'http://store.example.com/';
    const text = (await outcome('explain', '-f', file, url)).output;
    expect(text.match(/^Gateway.*|.*routability.*/gm)).toEqual([
      'Gateway default/unplaced, listener http',
      '  routability: address 10.96.0.8 has Cluster',
      'Gateway shop/mixed, listener http',
      '  routability: spec.addresses[1] requests Cluster',
      '  routability: spec.addresses[2] requests example.com/vpc, which is unsupported: it gets no address',
      '  routability: address 203.0.113.7 has no reported routability',
      '  routability: address 10.96.0.7 has Cluster',
      'Gateway shop/plain, listener http',
      'Gateway shop/waiting, listener http',
      '  routability: spec.addresses[0] requests Cluster',
      '  routability: the status has no address',
    ]);
    const { outcomes } = JSON.parse((await outcome('explain', '-o', 'json', '-f', file, url)).output) as {
      readonly outcomes: readonly { readonly addresses?: object }[];
    };
    expect(outcomes.map(({ addresses }) => addresses)).toEqual([
      { requested: [], assigned: [{ type: 'IPAddress', value: '10.96.0.8', routability: 'Cluster' }] },
      {
        requested: [
          { index: 1, routability: 'Cluster', isSupported: true },
          { index: 2, routability: 'example.com/vpc', isSupported: false },
        ],
        assigned: [
          { type: 'IPAddress', value: '203.0.113.7', routability: '' },
          { type: 'IPAddress', value: '10.96.0.7', routability: 'Cluster' },
        ],
      },
      undefined,
      { requested: [{ index: 0, routability: 'Cluster', isSupported: true }], assigned: [] },
    ]);
    await rm(folder, { recursive: true });
  });

  test('a URL without a port is refused', async () => {
    const program = startProgram('explain', '-f', 'test/golden/tcp-routes/input.yaml', 'tcp://front');
    expect(await program.ended()).toBe(2);
    expect(program.errors()).toContain('a port is required');
  });

  test.each([[['explain']], [['explain', 'http://a.example/', '--unknown']], [['doctor', '--unknown']]])(
    'without a result, the exit code is 2: %j',
    async (args) => {
      expect((await outcome(...args)).code).toBe(2);
    },
  );
});

describe('sallyport check', () => {
  test('prints a line for each finding with its place, and ends with 1 where something would be denied', async () => {
    const { code, output } = await outcome('check', 'examples/quickstart');
    expect(output).toMatch(
      /^examples\/quickstart\/30-mistakes\.yaml:\d+:\d+: error \[header-acted-on-twice\] spec\.rules\[1\]/m,
    );
    expect(output).toContain('14 objects: 2 errors, 0 warnings');
    expect(code).toBe(1);
  });

  test('warns of a grant that is missing where the files are all there is', async () => {
    const { output } = await outcome('check', '--closed', 'examples/quickstart');
    expect(output).toContain('warning [backend-not-permitted] spec.rules[4].backendRefs[0]');
    expect(output).toContain('14 objects: 2 errors, 1 warning');
  });

  test('denies nothing in the audit profile', async () => {
    const { code, output } = await outcome('check', '--profile', 'audit', 'examples/quickstart');
    expect(output).toContain('0 errors');
    expect(code).toBe(0);
  });
});

describe('sallyport check --bundle', () => {
  test('says what a bundle does not have, and what to do', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
    const file = join(folder, 'route.yaml');
    await writeFile(
      file,
      `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: cart, namespace: shop }
spec: { parentRefs: [{ name: web }], rules: [{ retry: { attempts: 2 }, backendRefs: [{ name: cart, port: 80 }] }] }
`,
    );
    const old = await outcome('check', '--bundle', 'v1.3.0', file);
    const present = await outcome('check', '--bundle', 'v1.7.0', file);
    await rm(folder, { recursive: true });
    expect(old.output).toMatch(
      /route\.yaml:4:\d+: warning \[schema-unknown-field\] spec\.rules\[0\]\.retry: .*v1\.3 standard/,
    );
    expect(present.output).not.toContain('schema-unknown-field');
  });
});

describe('sallyport explain, for filters of a listener', () => {
  let folder = '';
  const explained = (host: string) => outcome('explain', '-f', folder, `http://${host}.example.com/`);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
    const auth = (name: string): string =>
      `{ type: ExternalAuth, externalAuth: { protocol: HTTP, http: { path: /check }, backendRef: { name: ${name}, port: 80 } } }`;
    await writeFile(
      join(folder, 'objects.yaml'),
      `
${gatewayObjects(
  { name: 'front', namespace: 'shop' },
  `{ name: a, port: 80, protocol: HTTP, hostname: a.example.com, filters: { requests: [${auth('login')}] } }`,
  `{ name: b, port: 80, protocol: HTTP, hostname: b.example.com, filters: { requests: [${auth('gone')}] } }`,
)}---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: cart, namespace: shop }
spec: { parentRefs: [{ name: front }], rules: [{ backendRefs: [{ name: login, port: 80 }] }] }
${serviceObjects({ name: 'login', endpoint: 9901 })}
`,
    );
  });

  afterAll(() => rm(folder, { recursive: true }));

  test('they are named before the backends', async () => {
    const { code, output } = await explained('a');
    expect(output).toMatch(
      /authorized first by shop\/login\/80 \(HTTP\): 127\.0\.0\.1:9901, as \/check\/\n.*1 of 1 to shop\/login\/80/,
    );
    expect(code).toBe(0);
  });

  test('a filter that cannot run is named, and every request gets 500', async () => {
    const { code, output } = await explained('b');
    expect(output).toContain('Answers 500: The listener is invalid; see the conditions in the status of its Gateway.');
    expect(output).toContain('filters.requests[0]: Service "shop/gone" not found.');
    expect(code).toBe(1);
  });
});
