import { hostFromHeader } from '../core/text/hostname.ts';
import { normalizePath } from '../core/text/path.ts';
import type { ConfigResource, EndpointsConfig, HeaderFilter, ListenerConfig, MatchedRoute, NamedValue, RedirectFilter, RewriteFilter, RouteBackend, RouteFilter } from '../core/routing/config.ts';
import { configuration } from '../core/routing/emit.ts';
import { RouteTable, type RouteRequest } from '../core/routing/table.ts';
import { readFolder } from '../files/folder.ts';
import { ListenerIndex } from '../proxy/listener-index.ts';
import { assumedBundle, filesOnly, policyOf } from './settings.ts';
import { createTerminal, type Terminal } from './terminal.ts';
import { Workspace } from './workspace.ts';

/** Settings of `sallyport explain`. */
export interface ExplainOptions {
  readonly files: readonly string[];
  readonly method: string;
  /** `name: value`. */
  readonly header: readonly string[];
}

/**
 * Says for one request which listener takes it, which rule of which route answers and with which backends, and why
 * every candidate before it does not match.
 *
 * @returns the exit code: 0 where some route answers, otherwise 1
 */
export async function explain(url: URL, options: ExplainOptions): Promise<number> {
  const terminal = createTerminal();
  const workspace = new Workspace(filesOnly(assumedBundle), policyOf('standard', assumedBundle), [configuration]);
  workspace.update((await readFolder(options.files)).documents);
  const resources = [...workspace.kernel.emitted(configuration).values()];
  const request = requestOf(url, options);
  terminal.line(terminal.style('bold', `${request.method} ${url.href}`));

  const protocol = url.protocol === 'https:' ? 'HTTPS' : 'HTTP';
  const port = url.port === '' ? (protocol === 'HTTPS' ? 443 : 80) : Number(url.port);
  const listeners = selectListeners(resources, { protocol, port, host: request.host });
  if (listeners.length === 0) terminal.line(`  No listener serves ${protocol} for host ${request.host} on port ${port}.`);
  const table = new RouteTable();
  for (const resource of resources) if (resource.kind === 'route') table.upsert(resource);
  const answers = listeners.map((listener) => explainListener(terminal, listener, { table, request, resources }));
  return answers.some((answered) => answered) ? 0 : 1;
}

function requestOf(url: URL, { method, header }: ExplainOptions): RouteRequest {
  const headers = new Map(header.map((line) => [line.slice(0, line.indexOf(':')).trim().toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]));
  const path = normalizePath(url.pathname);
  return {
    host: hostFromHeader(headers.get('host') ?? url.host) ?? '',
    path: path.ok ? path.path : url.pathname,
    method: method.toUpperCase(),
    header: (name) => headers.get(name),
    query: (name) => url.searchParams.get(name) ?? undefined,
  };
}

interface Wanted {
  readonly protocol: ListenerConfig['protocol'];
  readonly port: number;
  readonly host: string;
}

/** The listener that takes the request, one for each Gateway: each has an address of its own. */
function selectListeners(resources: readonly ConfigResource[], wanted: Wanted): readonly ListenerConfig[] {
  const fitting = resources.filter((resource): resource is ListenerConfig => resource.kind === 'listener' && resource.port === wanted.port && resource.protocol === wanted.protocol);
  return [...Map.groupBy(fitting, (listener) => listener.gateway).values()].flatMap((group) => {
    const index = new ListenerIndex();
    for (const listener of group) index.add(listener);
    const selected = index.select(wanted.host);
    return selected === undefined ? [] : [selected];
  });
}

interface Serving {
  readonly table: RouteTable;
  readonly request: RouteRequest;
  readonly resources: readonly ConfigResource[];
}

function explainListener(terminal: Terminal, listener: ListenerConfig, { table, request, resources }: Serving): boolean {
  terminal.heading(`Gateway ${listener.gateway}, listener ${listener.name}${listener.hostname === undefined ? '' : ` (${listener.hostname})`}`);
  const candidates = [...table.candidates(listener.key, request)];
  const matched = table.match(listener.key, request);
  terminal.line(matched === undefined ? '  No route matches: 404' : `  ${terminal.style('green', nameOf(matched))}`);
  if (matched !== undefined) for (const line of answerOf(matched, resources)) terminal.line(`    ${line}`);
  terminal.line('  Candidates in order of precedence');
  const ofHost = candidates.filter(({ verdict }) => !verdict.startsWith('host '));
  for (const { candidate, verdict } of ofHost) {
    terminal.line(`    ${nameOf(candidate).padEnd(44)} ${verdict}`);
    if (verdict === 'matches') break;
  }
  const others = candidates.length - ofHost.length;
  if (others > 0) terminal.line(`    (and ${others} for other hosts)`);
  return matched !== undefined;
}

function nameOf({ route, rule, match }: MatchedRoute): string {
  return `${route.protocol === 'grpc' ? 'GRPCRoute ' : ''}${route.route} rule ${rule.index}${rule.name === undefined ? '' : ` (${rule.name})`} match ${match.index}`;
}

function answerOf({ route, rule }: MatchedRoute, resources: readonly ConfigResource[]): readonly string[] {
  const error = route.protocol === 'grpc' ? 'UNAVAILABLE' : '500';
  if (rule.failure !== undefined) return [`answers ${error}: ${rule.failure}`];
  const redirect = rule.filters.find((filter) => filter.type === 'redirect');
  const filters = rule.filters.map(filterText);
  if (redirect !== undefined) return [`redirects with ${redirect.statusCode}`, ...filters];
  const total = rule.backends.reduce((sum, backend) => sum + backend.weight, 0);
  if (total === 0) return [`answers ${error}: no backend has a weight above zero`, ...filters];
  return [...filters, ...rule.backends.map((backend) => `${backend.weight} of ${total} to ${backendText(backend, resources)}`)];
}

function filterText(filter: RouteFilter): string {
  switch (filter.type) {
    case 'redirect':
      return redirectText(filter);
    case 'rewrite':
      return rewriteText(filter);
    case 'mirror':
      return `copies ${filter.numerator} of ${filter.denominator} requests to ${filter.target.type === 'endpoints' ? filter.target.key.slice('endpoints/'.length) : `nowhere (${filter.target.reason})`}`;
    case 'cors':
      return `lets browsers read answers from ${filter.allowOrigins.join(', ') || 'no other origin'}`;
    case 'requestHeaders':
    case 'responseHeaders':
      return `${filter.type === 'requestHeaders' ? 'request' : 'response'} header: ${headersText(filter)}`;
  }
}

function redirectText({ scheme, hostname, path }: RedirectFilter): string {
  return `to scheme ${scheme ?? 'unchanged'}, host ${hostname ?? 'unchanged'}, path ${path?.value ?? 'unchanged'}`;
}

function rewriteText({ hostname, path }: RewriteFilter): string {
  return `rewrites host to ${hostname ?? 'itself'}, path${path?.type === 'prefix' ? ' prefix' : ''} to ${path?.value ?? 'itself'}`;
}

function headersText({ set, add, remove }: HeaderFilter): string {
  const named = (values: readonly NamedValue[]): string => values.map(({ name, value }) => `${name}: ${value}`).join(', ');
  const parts = [['sets', named(set)], ['adds', named(add)], ['removes', remove.join(', ')]].filter(([, text]) => text !== '');
  return parts.map((part) => part.join(' ')).join('; ');
}

function backendText({ target }: RouteBackend, resources: readonly ConfigResource[]): string {
  if (target.type === 'invalid') return `an error (${target.reason})`;
  const endpoints = resources.find((resource): resource is EndpointsConfig => resource.kind === 'endpoints' && resource.key === target.key);
  const addresses = endpoints?.addresses.map(({ host, port }) => `${host}:${port}`) ?? [];
  return `${target.key.slice('endpoints/'.length)}: ${addresses.length === 0 ? 'an error, no ready endpoints' : addresses.join(', ')}`;
}
