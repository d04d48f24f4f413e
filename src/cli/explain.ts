import { observes } from '../core/graph/observed.ts';
import { isServed, outcomesOf, type ArrivingRequest, type Outcome } from '../core/routing/decision/outcome.ts';
import { configuration } from '../core/routing/emit.ts';
import { infrastructure, type Infrastructure } from '../core/routing/infrastructure.ts';
import { isForwarded, type Layer4Outcome } from '../core/routing/decision/layer4-outcome.ts';
import { display, printable, quote } from '../core/text/display.ts';
import { hasField, nameKey } from '../core/text/fields.ts';
import { hostnameKey } from '../core/text/hostname.ts';
import { defaultPorts } from '../core/text/origin.ts';
import { defaultLimits } from '../proxy/limits/limits.ts';
import { answerFor, type AnswerReason } from '../proxy/messages/reasons.ts';
import { readHttp1Head } from '../proxy/messages/request-head.ts';
import type { SourceDocument } from '../files/document.ts';
import type { SourceObjects, SourceOptions } from '../sources/objects.ts';
import { Workspace } from '../workspace/workspace.ts';
import { inForceOf, layer4RouteOf, readLiveDataPlanes, routeOf, type InForce } from './live/in-force.ts';
import type { TraceResult } from './live/trace-comparison.ts';
import { traceAll, type TraceOptions } from './live/trace.ts';
import { withAssumedClasses } from './assumed-classes.ts';
import { connectionOf, connectionOutcomes, layer4Url, type Connection } from './explain-connection.ts';
import { addressLines, gatewayAddresses, type GatewayAddresses } from './report/explain/gateway-addresses.ts';
import { printExplanation, type Explanation } from './report/explain/explanation.ts';
import { jsonText } from './report/json-text.ts';
import { explainLayer4Outcome } from './report/explain/layer4-outcome.ts';
import { explainOutcome } from './report/explain/outcome.ts';
import { proxyProtocolUse, withProxyProtocol, type ProxyProtocolUse } from './report/explain/proxy-protocol.ts';
import { unobservedText } from './report/unobserved.ts';
import { unobservedObjects, type UnobservedObjects } from './report/explain/unobserved-objects.ts';
import { printNotes, readCompleteObjects, readRoutingSettings } from './evaluated.ts';
import { policyOf } from './settings.ts';
import { createTerminal, type Terminal } from './terminal.ts';
import { orUsageError, UsageError } from './usage-error.ts';

/** Settings of `sallyport explain`. */
export interface ExplainOptions extends SourceOptions {
  readonly method: string;
  /** `name: value`. */
  readonly header: readonly string[];
  readonly output: 'text' | 'json';
  /** Restricts the answer to Gateways of this namespace. */
  readonly namespace: string | undefined;
  /** A settings file, whose HostnamePolicies apply instead of those in the settings of the cluster. */
  readonly settings?: string | undefined;
  /** The namespace of the controller, which knows what data planes have acknowledged, and of its settings. */
  readonly controllerNamespace: string;
  /** Names of GatewayClasses of Sallyport, if the credentials may not list GatewayClasses. Empty: all that Gateways name. */
  readonly gatewayClass: readonly string[];
  /** How to send the request or connection through data planes. `undefined`: it is not sent. */
  readonly trace: Pick<TraceOptions, 'address' | 'insecure'> | undefined;
}

/**
 * Reports how each Gateway handles one request or connection: the listener, the rule, the response or the backends, and why no match
 * with higher precedence applies. The data plane uses the same decision (`decide`).
 *
 * @param url scheme, host and path; the path and the query are used as written. Or a connection: `tls://server-name:port`,
 *   `tcp://gateway:port` or `udp://gateway:port`, where `gateway` is a name, or `name.namespace`
 * @returns the exit code: 0 if every share of such requests reaches a backend or gets an intended response, otherwise 1
 * @throws UsageError for any other URL
 */
export async function explain(url: string, options: ExplainOptions): Promise<number> {
  const terminal = createTerminal();
  const connection = connectionOf(url);
  const request = layer4Url.test(url) ? undefined : requestOf(url, options);
  const source = await readCompleteObjects(options);
  const documents = withAssumedClasses(source, options.gatewayClass);
  const workspace = new Workspace(
    source.installation,
    policyOf('standard', source.bundle),
    [configuration, infrastructure],
    await readRoutingSettings(options),
  );
  workspace.update(documents);
  const resources = [...workspace.kernel.emitted(configuration).values()];
  const isMeant = ({ gateway }: { readonly gateway: string }): boolean =>
    options.namespace === undefined || gateway.startsWith(`${options.namespace}/`);
  const found: Explained = {
    request,
    connection,
    requests:
      request === undefined || typeof request === 'string' ? [] : outcomesOf(resources, request).filter(isMeant),
    connections: connection === undefined ? [] : connectionOutcomes(resources, connection).filter(isMeant),
    gateways: workspace.kernel.emitted(infrastructure),
    unobservedGateways: unobservedGatewaysIn(source, options),
    unobservedFor: (outcome) => unobservedObjects(source.installation, outcome),
    addressesOf: ({ gateway }) => gatewayAddresses(workspace.kernel.read, gateway, documents),
    ...(await liveState(options, documents)),
    traces: new Map(),
  };
  const traces = options.trace === undefined ? found.traces : await tracesOf(found, options, documents);
  const traced = { ...found, traces };
  if (options.output === 'json') terminal.line(jsonText(jsonOf(traced), 2));
  else print(terminal, request === undefined ? url : `${options.method.toUpperCase()} ${url}`, traced);
  return succeeds(traced) ? 0 : 1;
}

/** Sends the request or connection through data planes. @throws UsageError if that is impossible */
function tracesOf(
  { request, requests, connection, connections }: Explained,
  { cluster, files, trace, header, controllerNamespace: namespace }: ExplainOptions,
  documents: readonly SourceDocument[],
): Promise<Explained['traces']> {
  if (cluster === undefined || files.length > 0 || trace === undefined)
    throw new UsageError('--trace requires --cluster without files: data planes do not have objects of files.');
  if (typeof request === 'string') throw new UsageError('--trace requires a valid request.');
  const fields = fieldsOf(header).flatMap(([name, value]) => (nameKey(name) === 'host' ? [] : [name, value]));
  return traceAll({ request, requests, connection, connections, documents }, { cluster, namespace, fields, ...trace });
}

function unobservedGatewaysIn({ installation }: SourceObjects, { namespace = '' }: ExplainOptions): string | undefined {
  const gateways = { kind: 'Gateway', namespace } as const;
  return observes(installation, gateways) ? undefined : `Unknown: ${unobservedText(gateways)}.`;
}

type InForceAt = (outcome: Outcome | Layer4Outcome) => InForce | undefined;

/** The state of data planes. Not for objects of files, which data planes may not have. */
async function liveState(
  { cluster, files, controllerNamespace }: ExplainOptions,
  documents: readonly SourceDocument[],
): Promise<{ readonly inForce: InForceAt }> {
  if (cluster === undefined || files.length > 0) return { inForce: () => undefined };
  const live = await orUsageError('the cluster', readLiveDataPlanes(cluster, controllerNamespace));
  if (typeof live === 'string') {
    printNotes([`The data planes are not observed: ${live}`]);
    return { inForce: () => undefined };
  }
  return {
    inForce: (outcome) => {
      const { gateway, listener } = outcome;
      const route = 'authorization' in outcome ? routeOf(outcome) : layer4RouteOf(outcome);
      return inForceOf({ gateway, listener, route }, live, documents);
    },
  };
}

interface Explained {
  /** The request, or the reason why every data plane rejects it. `undefined` if the URL is only a connection. */
  readonly request: ArrivingRequest | AnswerReason | undefined;
  readonly connection: Connection | undefined;
  readonly requests: readonly Outcome[];
  readonly connections: readonly Layer4Outcome[];
  /** By `namespace/name`. */
  readonly gateways: ReadonlyMap<string, Infrastructure>;
  /** Set if Gateways that are not observed may have a listener. */
  readonly unobservedGateways: string | undefined;
  readonly unobservedFor: (outcome: Outcome | Layer4Outcome) => UnobservedObjects;
  /** The addresses of the Gateway. `undefined` if their routability does not matter. */
  readonly addressesOf: (outcome: Outcome | Layer4Outcome) => GatewayAddresses | undefined;
  /** Whether data planes answer like this. `undefined` if that is unknown. */
  readonly inForce: InForceAt;
  /** The results of requests and connections that were sent. */
  readonly traces: ReadonlyMap<Outcome | Layer4Outcome, TraceResult>;
}

function jsonOf({
  request,
  requests,
  connections,
  gateways,
  unobservedFor,
  addressesOf,
  inForce,
  traces,
}: Explained): object {
  const outcomes = [...requests, ...connections].map((outcome) => {
    const proxyProtocol = useOf(gateways, outcome);
    const { routes, policies } = unobservedFor(outcome);
    const unobserved = [...routes, ...policies];
    const addresses = addressesOf(outcome);
    const state = inForce(outcome);
    const trace = traces.get(outcome);
    return {
      ...outcome,
      ...(Object.keys(proxyProtocol).length > 0 && { proxyProtocol }),
      ...(unobserved.length > 0 && { unobserved }),
      ...(addresses !== undefined && { addresses }),
      ...(state !== undefined && { inForce: { ...state, lines: undefined } }),
      ...(trace !== undefined && { trace: { ...trace, lines: undefined } }),
    };
  });
  return typeof request === 'string' ? { refused: request, outcomes } : { outcomes };
}

function useOf(gateways: Explained['gateways'], { gateway, listener }: Outcome | Layer4Outcome): ProxyProtocolUse {
  return proxyProtocolUse(gateways.get(gateway)?.parameters ?? {}, listener);
}

function print(
  terminal: Terminal,
  title: string,
  {
    request,
    connection,
    requests,
    connections,
    gateways,
    unobservedGateways,
    unobservedFor,
    addressesOf,
    inForce,
    traces,
  }: Explained,
): void {
  terminal.line(terminal.style('bold', printable(title)));
  if (typeof request === 'string')
    terminal.line(`  Every Gateway answers ${answerFor(request).status}: ${answerFor(request).text}`);
  else if (requests.length + connections.length === 0)
    terminal.line(`  ${unobservedGateways ?? nothingFor(request ?? connection)}`);
  const complete = (explanation: Explanation, outcome: Outcome | Layer4Outcome): Explanation => {
    const { lines, ...rest } = withProxyProtocol(explanation, useOf(gateways, outcome));
    const addresses = addressesOf(outcome);
    const further = [
      ...unobservedFor(outcome).policies,
      ...(addresses === undefined ? [] : addressLines(addresses)),
      ...(inForce(outcome)?.lines ?? []),
      ...(traces.get(outcome)?.lines ?? []),
    ];
    return { ...rest, lines: [...lines, ...further] };
  };
  for (const outcome of requests)
    printExplanation(terminal, complete(explainOutcome(outcome, unobservedFor(outcome).routes), outcome));
  for (const outcome of connections)
    printExplanation(terminal, complete(explainLayer4Outcome(outcome, unobservedFor(outcome).routes), outcome));
}

function nothingFor(arrival: ArrivingRequest | Connection | undefined): string {
  const gateway =
    arrival !== undefined && 'gateway' in arrival && arrival.gateway !== undefined
      ? ` of a Gateway ${display(arrival.gateway)}`
      : '';
  return `No listener found for ${arrival?.protocol} on port ${arrival?.port}${gateway}.`;
}

/** Whether no trace differs, some Gateway does what its routes intend, and so does every Gateway with a matching listener. */
function succeeds({ requests, connections, traces }: Explained): boolean {
  if ([...traces.values()].some(({ differences }) => differences.length > 0)) return false;
  const all = [
    ...requests.map((one) => ({ listener: one.listener, works: isServed(one) })),
    ...connections.map((one) => ({ listener: one.listener, works: isForwarded(one) })),
  ];
  return all.some(({ works }) => works) && all.every(({ listener, works }) => listener === undefined || works);
}

const httpUrl = /^(?<scheme>https?):\/\/(?<authority>[^/?#]+)(?<target>[^#]*)/i;

/** Names and values. */
function fieldsOf(header: ExplainOptions['header']): readonly (readonly [string, string])[] {
  return header.map((line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]);
}

/** The request as a data plane parses it, or why a data plane rejects it. */
function requestOf(url: string, { method, header }: ExplainOptions): ArrivingRequest | AnswerReason {
  const { scheme, authority, target } = httpUrl.exec(url)?.groups ?? {};
  if (scheme === undefined || authority === undefined || target === undefined) {
    throw new UsageError(
      `Invalid URL ${quote(url)}: use a URL such as http://store.example.com/cart, tls://db.example.com:5432 or tcp://front:5432`,
    );
  }
  const fields = fieldsOf(header).flat();
  const rawHeaders = hasField(fields, 'host') ? fields : ['host', authority, ...fields];
  const head = readHttp1Head(
    {
      httpVersion: '1.1',
      method: method.toUpperCase(),
      url: target.startsWith('/') ? target : `/${target}`,
      rawHeaders,
    },
    defaultLimits,
  );
  if (typeof head === 'string') return head;
  const isHttps = scheme.toLowerCase() === 'https';
  const [, host = authority, port] = /^(?<host>.*?)(?::(?<port>\d+))?$/.exec(authority) ?? [];
  return {
    protocol: isHttps ? 'HTTPS' : 'HTTP',
    port: port === undefined ? defaultPorts[isHttps ? 'https' : 'http'] : Number(port),
    serverName: isHttps ? hostnameKey(host) : undefined,
    authority: head.authority,
    host: head.host,
    path: head.path,
    search: head.search,
    method: head.method,
    remainingHops: head.remainingHops,
    hops: head.hops,
    header: (name) => head.header(name),
    query: (name) => head.query(name),
  };
}
