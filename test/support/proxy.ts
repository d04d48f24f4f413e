import { request as startRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type {
  ConfigResource,
  RouteBackend,
  RouteConfig,
  RouteFilter,
  RouteRule,
} from '../../src/core/routing/config.ts';
import type { AccessLogEntry } from '../../src/proxy/handling/access-log.ts';
import type { ProxyLimits } from '../../src/proxy/limits/limits.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import type { ConfigProblem, Proxy, ProxyOptions } from '../../src/proxy/proxy.ts';
import { endpointsConfig, listenerConfig } from './config.ts';
import type { Echo } from './backends.ts';
import { createWorkersUnderTest } from './proxy-workers.ts';
import { routeConfig, routeMatch, routeRule } from './routes.ts';

/** The listener that proxies start with. */
export const web = listenerConfig('web');

export interface ProxyUnderTest {
  readonly proxy: Proxy;
  /** Of the listener `web`. */
  readonly port: number;
  readonly log: AccessLogEntry[];
  readonly apply: (...upserts: readonly ConfigResource[]) => Promise<readonly ConfigProblem[]>;
}

/** For tests in which no error may be left that nobody foresaw. */
export function throwFault(error: unknown): never {
  throw error;
}

const running = new Set<Proxy>();

/** Ends every proxy that was started; for `afterEach`. */
export async function closeProxies(): Promise<void> {
  await Promise.all([...running].map((proxy) => proxy.close({ graceMs: 0 })));
  running.clear();
}

/** With `PROXY_WORKERS=2`, the tests run with data planes of several threads. */
const workers = Number(process.env['PROXY_WORKERS'] ?? 1);

function create(options: ProxyOptions): Proxy {
  return workers > 1 ? createWorkersUnderTest(options, { workers }) : createProxy(options);
}

/** A proxy on loopback with the listener `web` and these resources. Close it with `closeProxies`. */
export async function startProxy(
  resources: readonly ConfigResource[],
  options: Partial<ProxyOptions> = {},
): Promise<ProxyUnderTest> {
  const log: AccessLogEntry[] = [];
  const proxy = create({
    bind: () => [{ host: '127.0.0.1', port: 0 }],
    certificates: () => undefined,
    accessLog: (entry) => log.push(entry),
    ...options,
  });
  running.add(proxy);
  await proxy.apply({ upserts: [web, ...resources], removals: [] });
  return {
    proxy,
    log,
    port: portOf(proxy),
    apply: (...upserts) => proxy.apply({ upserts, removals: [] }),
  };
}

/** The port on which a listener of a proxy answers. */
export function portOf(proxy: Proxy, listener = web.key): number {
  const address = proxy.addressesOf(listener)[0];
  if (address === undefined) throw new Error(`${listener} is not bound`);
  return address.port;
}

/** A proxy that sends everything to one backend on this port. */
export function startProxyTo(port: number, limits: Partial<ProxyLimits> = {}): Promise<ProxyUnderTest> {
  return startProxy([endpointsConfig('app', port), routeTo('app')], { limits });
}

/** A route for everything on `web` to the Service `app` (or another), with parts of its one rule given. */
export function routeTo(service: string, parts: Partial<RouteRule> = {}): RouteConfig {
  return webRoute({ ...routeRule(0, routeMatch()), backends: [backendOf(service)], ...parts });
}

/** The HTTPRoute `shop/web` on `web` with these rules. */
export function webRoute(...rules: readonly RouteRule[]): RouteConfig {
  return routeConfig('shop/web', {
    key: 'route/HTTPRoute/shop/web',
    attachments: [{ listener: web.key, hostnames: [''] }],
    rules,
  });
}

/** A rule with filters for a path prefix. */
export function prefixRule(prefix: string, filters: readonly RouteFilter[], parts: Partial<RouteRule> = {}): RouteRule {
  const rule = routeRule(0, routeMatch({ path: { type: 'PathPrefix', value: prefix } }));
  return { ...rule, filters, backends: [backendOf('app')], ...parts };
}

/** A backend of weight 1 at the endpoints that `endpointsConfig(service)` stands for. */
export function backendOf(service: string, parts: Partial<RouteBackend> = {}): RouteBackend {
  return { weight: 1, target: { type: 'endpoints', key: endpointsConfig(service).key }, filters: [], ...parts };
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string | readonly string[]>;
  readonly body?: string | Buffer;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly trailers: IncomingMessage['trailers'];
  readonly body: string;
}

/** Sends a request on a connection of its own and takes the whole answer; fails where the answer breaks off. */
export function send(port: number, path: string, sent: Sent = {}): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const { method = 'GET', headers = {}, body } = sent;
  const request = startRequest({
    host: '127.0.0.1',
    port,
    path,
    method,
    headers: headers as Record<string, string>,
    agent: false,
  });
  request.on('error', reject);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const { statusCode: status = 0, headers, trailers } = response;
      resolve({ status, headers, trailers, body: Buffer.concat(chunks).toString() });
    });
  });
  request.end(body);
  return promise;
}

/** As `send`, to an echo backend: what it saw. */
export async function echoed(port: number, path: string, sent: Sent = {}): Promise<Echo> {
  return JSON.parse((await send(port, path, sent)).body) as Echo;
}

/** The values of a field in an echo, by its name in any case. */
export function fieldValues({ fields }: Pick<Echo, 'fields'>, name: string): string[] {
  return fields.filter((_, position) => position % 2 === 1 && fields[position - 1]?.toLowerCase() === name);
}

/** Writes bytes on a new connection and collects what comes back until the other side ends it. */
export function sendRaw(port: number, bytes: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = '';
  const socket = openRaw(port);
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.on('close', () => resolve(received));
  socket.write(bytes, 'latin1');
  return promise;
}

/** A bare connection; errors on it end it and nothing more. */
export function openRaw(port: number, address = '127.0.0.1'): Socket {
  return connect(port, address).on('error', () => undefined);
}

/** Resolves with everything received on a connection once that contains `text`. */
export function receiveUntil(socket: Socket, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    if (received.includes(text)) resolve(received);
  });
  socket.on('close', () => reject(new Error(`closed after ${JSON.stringify(received)}`)));
  return promise;
}
