import type { AuthorizationFilter, ConfigResource, RouteFilter, RouteRule } from '../../src/core/routing/config.ts';
import type { ProxyOptions } from '../../src/proxy/proxy.ts';
import { startBackend, startRawBackend } from './backends.ts';
import type { Echo } from './backends.ts';
import { endpointsConfig } from './config.ts';
import { prefixRule, startProxy, throwFault, webRoute } from './proxy.ts';

/** A filter that asks the Service `shop/<service>` over HTTP unless told otherwise. */
export function authorizedBy(service: string, parts: Partial<AuthorizationFilter> = {}): AuthorizationFilter {
  return {
    type: 'authorization',
    target: { type: 'endpoints', key: endpointsConfig(service).key },
    protocol: 'http',
    requestHeaders: [],
    responseHeaders: [],
    path: '',
    maxBody: 0,
    ...parts,
  };
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string | readonly string[]>;
  readonly body?: string;
}

/** An authorization server that answers as told, and notes what it was asked. */
export async function startServer(answer: (request: Echo) => Answer = () => ({ status: 200 })) {
  const asked: Echo[] = [];
  const { port, ...server } = await startBackend((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const seen = {
          backend: 'auth',
          method: request.method ?? '',
          target: request.url ?? '',
          fields: request.rawHeaders,
          body: Buffer.concat(chunks).toString(),
        };
        asked.push(seen);
        const { status, headers = {}, body = '' } = answer(seen);
        response.writeHead(status, headers as Record<string, string>).end(body);
      });
  });
  return { port, asked, ...server };
}

/** A backend that notes every request of which it sees the head. */
export async function startApp() {
  const reached: string[] = [];
  const { port } = await startBackend((request, response) => {
    reached.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => response.end('served'));
  });
  return { port, reached };
}

export interface Setup {
  readonly filters?: readonly RouteFilter[];
  readonly parts?: Partial<RouteRule>;
  readonly resources?: readonly ConfigResource[];
  readonly options?: Partial<ProxyOptions>;
}

/** A proxy of which every request to `shop/app` has to be permitted by `shop/auth`. */
export function startAuthorized(
  app: number,
  auth: number | undefined,
  { filters = [authorizedBy('auth')], parts = {}, resources = [], options = {} }: Setup = {},
) {
  const endpoints = [endpointsConfig('app', app), ...(auth === undefined ? [] : [endpointsConfig('auth', auth)])];
  return startProxy([...endpoints, ...resources, webRoute(prefixRule('/', filters, parts))], {
    onFault: throwFault,
    ...options,
  });
}

/** A server that reads and never answers. */
export function startSilent() {
  return startRawBackend((socket) => socket.resume().on('end', () => socket.end()));
}
