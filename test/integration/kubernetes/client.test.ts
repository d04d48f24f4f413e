import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect as dial, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../../src/certificates/index.ts';
import { ApiError, createClient, loadCredentials, type ApiClient, type Proof } from '../../../src/kubernetes/index.ts';
import { limitPlugins } from '../../../src/kubernetes/exec-plugins.ts';
import { KubeConfig } from '../../../src/kubernetes/official-client.ts';
import { connectThrough, readProxy } from '../../../src/kubernetes/proxy-tunnel.ts';
import { serviceAccountCredentials } from '../../../src/kubernetes/service-account.ts';
import { credentialsFor } from '../../support/credentials.ts';
import { eventually } from '../../support/eventually.ts';
import { startFakeApiServer, type FakeApiServer, type FakeOptions } from '../../support/fake-api-server.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function start(options: FakeOptions = {}): Promise<FakeApiServer> {
  const server = await startFakeApiServer(options);
  closing.push(() => server.close());
  return server;
}

function connect(...[credentials, clock]: Parameters<typeof createClient>): ApiClient {
  const client = createClient(credentials, clock);
  closing.push(() => client.close());
  return client;
}

const namespace = { path: '/api/v1/namespaces/default' };

describe('requests', () => {
  test('share connections', async () => {
    const server = await start();
    const client = connect(credentialsFor(server.url));
    for (let count = 0; count < 50; count++) await client.request(namespace);
    expect(server.connections()).toBeLessThanOrEqual(2);
    await Promise.all(Array.from({ length: 400 }, () => client.request(namespace)));
    expect(server.connections()).toBeLessThanOrEqual(100);
  });

  test('that wait for a connection fail when the client is closed', async () => {
    const server = await start();
    const client = connect(credentialsFor(server.url));
    for (let count = 0; count < 120; count++) server.fail({ when: () => true, act: 'hang' });
    const answers = Array.from({ length: 120 }, () => client.request(namespace));
    const failures = Promise.allSettled(answers);
    await eventually(() => expect(server.audit).toHaveLength(100));
    await client.close();
    for (const answer of await failures) expect(answer).toMatchObject({ reason: { name: 'ConnectionError' } });
    expect(server.connections()).toBe(100);
  });

  test('may lie below a path of the server', async () => {
    const server = await start();
    const client = connect(credentialsFor(`${server.url}/clusters/one`));
    await expect(client.request({ ...namespace, query: { a: 'x y', b: undefined, c: 1 } })).rejects.toBeInstanceOf(
      ApiError,
    );
    expect(server.audit.at(-1)).toMatchObject({
      path: '/clusters/one/api/v1/namespaces/default',
      query: { a: 'x y', c: '1' },
    });
  });

  test('end with the reason of their signal', async () => {
    const server = await start();
    const client = connect(credentialsFor(server.url));
    server.fail({ when: () => true, act: 'hang' });
    const controller = new AbortController();
    const request = client.request({ ...namespace, signal: controller.signal });
    await eventually(() => expect(server.audit).toHaveLength(1));
    controller.abort(new Error('changed my mind'));
    await expect(request).rejects.toThrow('changed my mind');
    await expect(client.request({ ...namespace, signal: controller.signal })).rejects.toThrow('changed my mind');
    expect(server.audit).toHaveLength(1);
  });

  test('get no answer where nobody listens, or in time', async () => {
    const server = await start();
    const clock = new ManualClock();
    const client = connect(credentialsFor(server.url), clock);
    server.fail({ when: () => true, act: 'hang' });
    const request = client.request({ ...namespace, timeout: 500 });
    await eventually(() => expect(server.audit).toHaveLength(1));
    clock.advance(500);
    await expect(request).rejects.toMatchObject({
      name: 'ConnectionError',
      message: 'no answer to GET /api/v1/namespaces/default within 500 ms',
    });
    await server.close();
    await expect(client.request(namespace)).rejects.toMatchObject({
      name: 'ConnectionError',
      message: expect.stringContaining('cannot be reached'),
    });
    expect(clock.waiting).toBe(0);
  });

  test.each([
    ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['follows many interim ones', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(200)],
  ])('end with an error when the response %s', async (_what, response) => {
    const server = createServer(({ socket }) => void socket.write(response));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    const client = connect(credentialsFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    await expect(client.request({ ...namespace, timeout: 4_000 })).rejects.toThrow('the API server cannot be reached');
    await expect(client.stream(namespace).next()).rejects.toThrow('the API server cannot be reached');
  });

  test.each([200, 500])('end with an error when the response with the status %i has no end', async (status) => {
    let isClosed = false;
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      const piece = 'x'.repeat(1_000_000);
      const send = (): void => void response.write(piece, send);
      response.on('close', () => {
        isClosed = true;
      });
      send();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    const client = connect(credentialsFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    await expect(client.request(namespace)).rejects.toThrow('more than 16777216 characters');
    await eventually(() => expect(isClosed).toBe(true));
  });

  test('survive an answer in somebody else’s words', async () => {
    const server = await start();
    const client = connect(credentialsFor(server.url));
    server.fail({ when: () => true, act: { code: 502, body: '<html>Bad Gateway</html>' } });
    await expect(client.request(namespace)).rejects.toMatchObject({ status: 502, message: '<html>Bad Gateway</html>' });
    server.fail({ when: () => true, act: { code: 200, body: '<html>Login</html>' } });
    await expect(client.request(namespace)).rejects.toMatchObject({ name: 'ProtocolError' });
  });
});

describe('an HTTP proxy in front of the API server', () => {
  interface Proxy {
    readonly url: string;
    /** The head of every CONNECT, in short. */
    readonly asked: string[];
  }

  async function startProxy(answer: (client: Duplex, port: number) => void): Promise<Proxy> {
    const asked: string[] = [];
    const proxy = createServer().on('connect', ({ url = '', headers }, client) => {
      asked.push(`${url} ${headers['proxy-authorization'] ?? 'no password'}`);
      answer(
        client.on('error', () => {}),
        Number(url.split(':').at(-1)),
      );
    });
    await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise((resolve) => void proxy.close(resolve)));
    return { url: `http://me:se%20cret@127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
  }

  test('carries TLS to the server, which is verified as ever', async () => {
    const authority = await createAuthority();
    const server = await start({
      certificate: await issueServingCertificate(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'] }),
    });
    const proxy = await startProxy((client, port) => {
      const upstream = dial(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      upstream
        .on('error', () => {})
        .pipe(client)
        .pipe(upstream);
    });
    const through = (tls: Proof['tls']) =>
      connect({ ...credentialsFor(server.url, () => ({ headers: {}, tls })), proxy: proxy.url });
    const client = through({ ca: authority.certificate });
    expect(await client.request(namespace)).toMatchObject({ metadata: { name: 'default' } });
    expect(await client.request(namespace)).toMatchObject({ metadata: { name: 'default' } });
    expect(proxy.asked).toEqual([`${new URL(server.url).host} Basic ${btoa('me:se cret')}`]);
    await expect(through({}).request(namespace)).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(server.audit).toHaveLength(2);
  });

  test('that never answers does not hold a request beyond its time', async () => {
    const proxy = await startProxy((client) => closing.push(async () => client.destroy()));
    const client = connect({ ...credentialsFor('https://127.0.0.1:6443'), proxy: proxy.url });
    await expect(client.request({ ...namespace, timeout: 50 })).rejects.toThrow(/50 ms|time/);
    expect(proxy.asked).toHaveLength(1);
  });

  test('that refuses is an error of the request', async () => {
    const proxy = await startProxy((client) => client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
    const client = connect({ ...credentialsFor('https://127.0.0.1:6443'), proxy: proxy.url });
    await expect(client.request(namespace)).rejects.toThrow('answered CONNECT with 407');
  });

  test('that sends the head of its answer without end is an error, which closes the connection', async () => {
    const closed = Promise.withResolvers<void>();
    const proxy = await startProxy((client) => {
      client.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => client.write('a: b\r\n'), 10);
      closing.push(async () => client.destroy());
      client.on('close', () => {
        clearInterval(timer);
        closed.resolve();
      });
    });
    const failed = Promise.withResolvers<Error | null>();
    const dialThrough = connectThrough(readProxy(proxy.url), 'http:', 100);
    dialThrough({ host: '127.0.0.1', port: 80 }, failed.resolve);
    expect(await failed.promise).toMatchObject({ message: expect.stringContaining('did not answer CONNECT') });
    await closed.promise;
  });

  test.each([
    ['http://me%zz:secret@127.0.0.1:3128', 'the proxy-url has an invalid escape; write %25 for %'],
    ['http://me:se%cret@127.0.0.1:3128', 'the proxy-url has an invalid escape; write %25 for %'],
    ['//127.0.0.1', 'the proxy-url is invalid'],
  ])('with the URL %s is an error of the kubeconfig, and of each request', async (url, problem) => {
    const client = connect({ ...credentialsFor('https://127.0.0.1:6443'), proxy: url });
    const requests = Array.from({ length: 3 }, () => client.request(namespace));
    for (const request of requests) await expect(request).rejects.toThrow(problem);
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-'));
    closing.push(() => rm(folder, { recursive: true }));
    const kubeconfig = join(folder, 'config');
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:6443', 'proxy-url': url } }],
        users: [{ name: 'a', user: {} }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        'current-context': 'a',
      }),
    );
    await expect(loadCredentials({ kubeconfig })).rejects.toThrow(problem);
  });
});

describe('proof', () => {
  test('is renewed while the client is in use', async () => {
    const options: FakeOptions = { token: 'first' };
    const server = await start(options);
    const clock = new ManualClock();
    let proof: Proof = { headers: { authorization: 'Bearer first' }, tls: {} };
    const client = connect(
      credentialsFor(server.url, () => proof),
      clock,
    );
    await client.request(namespace);
    options.token = 'second';
    proof = { headers: { authorization: 'Bearer second' }, tls: {} };
    await expect(client.request(namespace)).rejects.toMatchObject({ status: 401 });
    clock.advance(11_000);
    await client.request(namespace);
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  test('that cannot be loaded fails the request, not the client', async () => {
    const server = await start();
    let isBroken = true;
    const client = connect(
      credentialsFor(server.url, () => {
        if (isBroken) throw new Error('no token file');
        return { headers: {}, tls: {} };
      }),
    );
    await expect(client.request(namespace)).rejects.toThrow('no token file');
    isBroken = false;
    await client.request(namespace);
  });

  test('may take longer than a request', async () => {
    const server = await start();
    const clock = new ManualClock();
    let finish = (_proof: Proof): void => undefined;
    let fail = (_error: Error): void => undefined;
    const slow = (): Promise<Proof> =>
      new Promise((resolve, reject) => {
        [finish, fail] = [resolve, reject];
      });
    const client = connect({ ...credentialsFor(server.url), prove: slow }, clock);
    const late = client.request(namespace);
    clock.advance(100_000);
    await setImmediate();
    finish({ headers: {}, tls: {} });
    expect(await late).toMatchObject({ metadata: { name: 'default' } });
    clock.advance(100_000);
    const failing = client.request(namespace);
    clock.advance(100_000);
    await setImmediate();
    fail(new Error('the plugin did not end'));
    await expect(failing).rejects.toThrow('the plugin did not end');
  });

  test('a renewed authority is trusted without cutting anybody off', async () => {
    const [old, renewed] = await Promise.all([createAuthority(), createAuthority()]);
    const certificate = await issueServingCertificate(renewed, { dnsNames: [], ipAddresses: ['127.0.0.1'] });
    const server = await start({ certificate });
    const clock = new ManualClock();
    let ca = old.certificate;
    const client = connect(
      credentialsFor(server.url, () => ({ headers: {}, tls: { ca } })),
      clock,
    );
    await expect(client.request(namespace)).rejects.toMatchObject({ name: 'ConnectionError' });
    ca = `${old.certificate}\n${renewed.certificate}`;
    clock.advance(11_000);
    const stream = client.stream({ path: '/api/v1/namespaces', query: { watch: true } });
    expect(await stream.next()).toEqual({ done: false, value: [] });
    await stream.next();
    ca = renewed.certificate;
    clock.advance(11_000);
    await client.request(namespace);
    const next = stream.next();
    server.watches.write('{"still":"here"}\n');
    expect(await next).toEqual({ done: false, value: [{ still: 'here' }] });
    await stream.return();
  });
});

describe('a kubeconfig', () => {
  async function withFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-'));
    closing.push(() => rm(folder, { recursive: true }));
    return folder;
  }

  test('names server, authority, token and namespace', async () => {
    const authority = await createAuthority();
    const server = await start({
      certificate: await issueServingCertificate(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'] }),
      token: 'secret',
    });
    const folder = await withFolder();
    await writeFile(join(folder, 'ca.crt'), authority.certificate);
    const kubeconfig = join(folder, 'config');
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'a', cluster: { server: `${server.url}/`, 'certificate-authority': 'ca.crt' } }],
        users: [
          { name: 'u', user: { token: 'secret' } },
          { name: 'nobody', user: {} },
        ],
        contexts: [
          { name: 'c', context: { cluster: 'a', user: 'u', namespace: 'shop' } },
          { name: 'n', context: { cluster: 'a', user: 'nobody' } },
        ],
        'current-context': 'c',
      }),
    );
    const client = connect(await loadCredentials({ kubeconfig }));
    expect(client.namespace).toBe('shop');
    expect(await client.request(namespace)).toMatchObject({ metadata: { name: 'default' } });
    const nobody = connect(await loadCredentials({ kubeconfig, context: 'n' }));
    await expect(nobody.request(namespace)).rejects.toMatchObject({ status: 401, reason: 'Unauthorized' });
  });

  test('without a cluster is refused with its context', async () => {
    const kubeconfig = join(await withFolder(), 'config');
    await writeFile(kubeconfig, JSON.stringify({ clusters: [], users: [], contexts: [], 'current-context': 'gone' }));
    await expect(loadCredentials({ kubeconfig })).rejects.toThrow('no cluster for its context "gone"');
  });

  test.each([
    ['a pipe', (file: string) => void execFileSync('mkfifo', [file])],
    ['a device', (file: string) => symlinkSync('/dev/zero', file)],
  ])('is refused where it is %s', async (_what, create) => {
    const kubeconfig = join(await withFolder(), 'config');
    create(kubeconfig);
    await expect(loadCredentials({ kubeconfig })).rejects.toThrow(`${kubeconfig}: not a regular file`);
    const { KUBECONFIG: before } = process.env;
    process.env['KUBECONFIG'] = kubeconfig;
    try {
      await expect(loadCredentials('default')).rejects.toThrow(`${kubeconfig}: not a regular file`);
    } finally {
      if (before === undefined) delete process.env['KUBECONFIG'];
      else process.env['KUBECONFIG'] = before;
    }
  });

  test('names a file with a token, which is read again', async () => {
    const folder = await withFolder();
    await writeFile(
      join(folder, 'config'),
      JSON.stringify({
        clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }],
        users: [{ name: 'u', user: { token: 'other', tokenFile: 'token' } }],
        contexts: [{ name: 'c', context: { cluster: 'a', user: 'u' } }],
        'current-context': 'c',
      }),
    );
    const credentials = await loadCredentials({ kubeconfig: join(folder, 'config') });
    for (const token of ['first', 'second']) {
      await writeFile(join(folder, 'token'), `${token}\n`);
      expect((await credentials.prove()).headers).toEqual({ authorization: `Bearer ${token}` });
    }
    await writeFile(join(folder, 'token'), 'x'.repeat(2 ** 20 + 1));
    await expect(credentials.prove()).rejects.toThrow(`${join(folder, 'token')}: the file has 1048577 bytes`);
  });

  test.each(['certificate-authority', 'client-certificate', 'client-key', 'token-file'])(
    'is refused where its %s is a device',
    async (field) => {
      const kubeconfig = join(await withFolder(), 'config');
      await writeFile(
        kubeconfig,
        JSON.stringify({
          clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1', [field]: '/dev/zero' } }],
          users: [{ name: 'u', user: { [field]: '/dev/zero' } }],
          contexts: [{ name: 'c', context: { cluster: 'a', user: 'u' } }],
          'current-context': 'c',
        }),
      );
      await expect(loadCredentials({ kubeconfig })).rejects.toThrow('/dev/zero: not a regular file');
    },
  );

  test('is refused where it is no object', async () => {
    const kubeconfig = join(await withFolder(), 'config');
    await writeFile(kubeconfig, 'null');
    await expect(loadCredentials({ kubeconfig })).rejects.toThrow('the kubeconfig is invalid');
  });

  test.each([
    ['never ends', ['-c', 'sleep 30 & sleep 30'], 'the plugin "sh" of the kubeconfig did not end within 0.3 seconds'],
    ['prints without end', ['-c', 'yes'], 'the plugin "sh" of the kubeconfig printed more than 1048576 bytes'],
    ['prints errors without end', ['-c', 'yes >&2'], 'the plugin "sh" of the kubeconfig printed more than'],
    ['waits for input', ['-c', 'cat; echo no input >&2; false'], 'no input'],
  ])('fails if its plugin %s', async (_what, args, problem) => {
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: 'a', server: 'https://127.0.0.1:1' }],
      users: [{ name: 'u', exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args } }],
      contexts: [{ name: 'c', cluster: 'a', user: 'u' }],
      currentContext: 'c',
    });
    limitPlugins(config, { duration: problem.includes('0.3') ? 300 : 20_000, output: 2 ** 20 });
    await expect(config.applyToHTTPSOptions({})).rejects.toThrow(problem);
  });

  test('is not needed in a pod, whose token the kubelet renews', async () => {
    const authority = await createAuthority();
    const options = {
      certificate: await issueServingCertificate(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'] }),
      token: 'first',
    };
    const server = await start(options);
    const folder = await withFolder();
    await writeFile(join(folder, 'ca.crt'), authority.certificate);
    await writeFile(join(folder, 'namespace'), 'shop');
    expect(await serviceAccountCredentials(folder)).toBeUndefined();
    const { hostname, port } = new URL(server.url);
    process.env['KUBERNETES_SERVICE_HOST'] = hostname;
    process.env['KUBERNETES_SERVICE_PORT'] = port;
    try {
      expect(await serviceAccountCredentials(folder)).toBeUndefined();
      await writeFile(join(folder, 'token'), 'first\n');
      const credentials = await serviceAccountCredentials(folder);
      if (credentials === undefined) throw new Error('there are no credentials');
      const clock = new ManualClock();
      const client = connect(credentials, clock);
      expect(client.namespace).toBe('shop');
      expect(await client.request(namespace)).toMatchObject({ metadata: { name: 'default' } });
      options.token = 'second';
      await writeFile(join(folder, 'token'), 'second');
      clock.advance(60_000);
      expect(await client.request(namespace)).toMatchObject({ metadata: { name: 'default' } });
    } finally {
      delete process.env['KUBERNETES_SERVICE_HOST'];
      delete process.env['KUBERNETES_SERVICE_PORT'];
    }
  });

  test('is not needed in a pod, and nowhere else may it be missing', async () => {
    await expect(loadCredentials('in-cluster')).rejects.toThrow('use a kubeconfig');
  });
});
