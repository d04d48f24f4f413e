import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { CertificateMaterial } from '../../src/certificates/index.ts';
import { Lists, presenter } from './api-server/lists.ts';
import { record, Refusal, statusOf, textOf, type Json } from './api-server/object.ts';
import { parsePath } from './api-server/path.ts';
import { discoveryDocument, findResource } from './api-server/resources.ts';
import { resourceKey, Store } from './api-server/store.ts';
import { Watches } from './api-server/watches.ts';
import { find, patch, post, put, remove, type Target } from './api-server/writes.ts';

/** One request, as the API server's audit log has it. */
export interface AuditEntry {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
}

/** What goes wrong, once, with the next request that `when` chooses. */
export interface Fault {
  readonly when: (request: AuditEntry) => boolean;
  /** `reset`: the connection breaks; `hang`: no answer ever comes; `deaf`: it is done, and the answer gets lost. */
  readonly act:
    | 'reset'
    | 'hang'
    | 'deaf'
    | { readonly code: number; readonly reason?: string; readonly retryAfter?: number; readonly body?: string };
}

export interface FakeApiServer {
  readonly url: string;
  readonly store: Store;
  readonly watches: Watches;
  /** All requests so far, in order. */
  readonly audit: AuditEntry[];
  /** How many connections clients have opened. */
  readonly connections: () => number;
  /** The next matching request meets this fault. */
  fail(fault: Fault): void;
  /** Forgets history and pages: every older version and every list under way is expired. */
  expire(): void;
  close(): Promise<void>;
}

export interface FakeOptions {
  /** HTTPS where given. */
  readonly certificate?: CertificateMaterial;
  /** Requests without this bearer token are refused. May be changed at any time. */
  token?: string;
  /** The paths of requests that the user may make; all unless given. Others are refused as by RBAC. May be changed at any time. */
  permits?: (path: string) => boolean;
  /** The username of a token, for TokenReviews. Without it, they are not served. */
  readonly userOf?: (token: string) => string;
}

/** An API server in this process: enough of one for what clients of ours do, and faults at will. */
export async function startFakeApiServer(options: FakeOptions = {}): Promise<FakeApiServer> {
  const fake = new Fake(options);
  const listener = (request: IncomingMessage, response: ServerResponse) => void fake.handle(request, response);
  const { certificate } = options;
  const server =
    certificate === undefined
      ? createServer(listener)
      : createTlsServer({ cert: certificate.certificate, key: certificate.privateKey }, listener);
  // As the real one. With Node's default, clients that ask every five seconds would shake hands each time.
  server.keepAliveTimeout = 90_000;
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    store: fake.store,
    watches: fake.watches,
    audit: fake.audit,
    connections: () => connections,
    fail: (fault) => void fake.faults.push(fault),
    expire() {
      fake.store.compact();
      fake.lists.forget();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The message of RBAC, for lists. */
function forbidden(path: string): string {
  const [, group = '', namespace, plural = ''] =
    /^\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/([^/]+))?\/([^/]+)/.exec(path) ?? [];
  const place = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const resource = group === '' ? plural : `${plural}.${group}`;
  return `${resource} is forbidden: User "dev" cannot list resource "${plural}" in API group "${group}" ${place}`;
}

interface Answer {
  readonly code: number;
  readonly body: Json;
}

class Fake {
  readonly store = new Store();
  readonly watches = new Watches(this.store);
  readonly lists = new Lists(this.store);
  readonly audit: AuditEntry[] = [];
  readonly faults: Fault[] = [];
  private readonly options: FakeOptions;

  constructor(options: FakeOptions) {
    this.options = options;
    const namespaces = findResource(this.store, { group: '', version: 'v1', plural: 'namespaces' });
    if (namespaces !== undefined)
      this.store.insert(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  }

  private authorize(authorization: string | undefined, path: string): void {
    const { token, permits } = this.options;
    if (token !== undefined && authorization !== `Bearer ${token}`)
      throw new Refusal(401, 'Unauthorized', 'Unauthorized');
    if (permits?.(path) === false) throw new Refusal(403, 'Forbidden', forbidden(path));
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const body = await text(request);
    const { authorization, 'content-type': contentType } = request.headers;
    const entry = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      authorization,
      contentType,
    };
    this.audit.push(entry);
    const place = this.faults.findIndex(({ when }) => when(entry));
    const [fault] = place === -1 ? [] : this.faults.splice(place, 1);
    if (fault !== undefined && fault.act !== 'deaf') return inject(fault.act, response);
    try {
      this.authorize(authorization, url.pathname);
      const document = this.review(url.pathname, body) ?? this.discover(url.pathname);
      if (document !== undefined) return send(response, 200, document);
      const answer = this.answer(request, url, body === '' ? undefined : JSON.parse(body), response);
      if (fault !== undefined) response.destroy();
      else if (answer !== undefined) send(response, answer.code, answer.body);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      send(response, error.code, statusOf(error));
    }
  }

  /** @returns `undefined` where the answer is a stream that has begun */
  private answer(request: IncomingMessage, url: URL, body: unknown, response: ServerResponse): Answer | undefined {
    const { target, apiVersion } = this.locate(url.pathname);
    const query = url.searchParams;
    const present = presenter(request.headers.accept ?? '', apiVersion);
    const write = { contentType: request.headers['content-type'] ?? '', body, query };
    const { method } = request;
    if (method === 'POST') return { code: 201, body: present(post(this.store, target, write)) };
    if (method === 'PUT') return { code: 200, body: present(put(this.store, target, write)) };
    if (method === 'PATCH') {
      const patched = patch(this.store, target, write);
      return { code: patched.code, body: present(patched.body) };
    }
    if (method === 'DELETE') {
      const { gone, ...answer } = remove(this.store, target, write);
      if (gone !== undefined) this.watches.end(gone);
      return answer;
    }
    if (target.name !== '') return { code: 200, body: present(find(this.store, target)) };
    const filter = {
      namespace: target.namespace,
      labelSelector: query.get('labelSelector') ?? '',
      fieldSelector: query.get('fieldSelector') ?? '',
    };
    const resource = resourceKey(target.resource);
    if (query.get('watch') === 'true') {
      const bookmarks = query.get('allowWatchBookmarks') === 'true';
      const timeoutSeconds = Number(query.get('timeoutSeconds') ?? '3600');
      this.watches.open(
        { ...filter, resource, present, bookmarks, timeoutSeconds },
        query.get('resourceVersion') ?? '',
        response,
      );
      return undefined;
    }
    const { items, metadata } = this.lists.page(resource, filter, query);
    // Items of lists do not say what they are.
    const plain = items.map((item) => {
      const { apiVersion: _apiVersion, kind: _kind, ...rest } = present(item);
      return rest;
    });
    return { code: 200, body: { apiVersion, kind: `${target.resource.kind}List`, metadata, items: plain } };
  }

  private review(pathname: string, body: string): Json | undefined {
    const { userOf } = this.options;
    if (userOf === undefined || pathname !== '/apis/authentication.k8s.io/v1/tokenreviews') return undefined;
    return reviewed(record(JSON.parse(body)), userOf);
  }

  private discover(pathname: string): Json | undefined {
    const { group, version, plural } = parsePath(pathname);
    return plural === '' ? discoveryDocument(this.store, group, version) : undefined;
  }

  private locate(pathname: string): { target: Target; apiVersion: string } {
    const { group, version, namespace, plural, name, subresource } = parsePath(pathname);
    const resource = findResource(this.store, { group, version, plural });
    const isServed = resource !== undefined && (subresource === '' || (subresource === 'status' && resource.hasStatus));
    if (!isServed) throw new Refusal(404, 'NotFound', 'the server could not find the requested resource');
    return {
      target: { resource, namespace, name, subresource },
      apiVersion: group === '' ? version : `${group}/${version}`,
    };
  }
}

function reviewed(review: Json, userOf: (token: string) => string): Json {
  const { token, audiences } = record(review['spec']);
  return { ...review, status: { authenticated: true, audiences, user: { username: userOf(textOf(token)) } } };
}

function inject(act: Exclude<Fault['act'], 'deaf'>, response: ServerResponse): void {
  if (act === 'hang') return;
  if (act === 'reset') {
    response.destroy();
    return;
  }
  const { code, reason = 'InternalError', retryAfter, body } = act;
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
  if (body === undefined) send(response, code, statusOf(new Refusal(code, reason, `injected ${reason}`)));
  else response.writeHead(code).end(body);
}

function send(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(record(body)));
}
