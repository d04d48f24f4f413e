import { attachments } from '../../core/graph/attachment.ts';
import type { RequestRouteKind } from '../../core/graph/protocols.ts';
import type { Resource } from '../../core/resources/resource.ts';
import type { ListenerConfig } from '../../core/routing/config.ts';
import { printable } from '../../core/text/display.ts';
import { defaultPorts } from '../../core/text/origin.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Terminal } from '../terminal.ts';
import { formatAddress, type Address } from '../../proxy/sockets/address.ts';
import type { DemoBackend } from './demo-backends.ts';
import { qualifiedName } from '../../core/resources/reference.ts';
import { matchTypeOf, pathMatchOf } from '../../core/semantics/intended.ts';

/** The listeners and servers to print. */
export interface Serving {
  /** Without addresses if the port could not be bound, which the Gateway's status reports. */
  readonly listeners: readonly { readonly listener: ListenerConfig; readonly addresses: readonly Address[] }[];
  readonly backends: readonly DemoBackend[];
  readonly webhook: Address & { readonly caFile: string };
  readonly probes: Address;
}

/** Prints every address as a full URL, and example commands. */
export function printServing(terminal: Terminal, serving: Serving, workspace: Workspace): void {
  terminal.heading('Listening');
  for (const { listener, addresses } of serving.listeners) {
    const name = printable(`Gateway ${listener.gateway} ${listener.name}`).padEnd(40);
    if (addresses.length === 0) terminal.line(`  ${name} ${terminal.style('red', 'not bound, see its status')}`);
    for (const address of addresses) {
      const mapped = listener.port === address.port ? '' : `   (port ${listener.port} of the Gateway)`;
      terminal.line(`  ${name} ${terminal.style('cyan', urlOf(listener, address))}${mapped}`);
    }
  }
  const { webhook, probes } = serving;
  terminal.line(
    `  ${'Webhook'.padEnd(40)} ${terminal.style('cyan', `https://${webhook.host}:${webhook.port}/validate`)}   (CA: ${webhook.caFile})`,
  );
  for (const path of ['/healthz', '/readyz', '/metrics'])
    terminal.line(
      `  ${(path === '/metrics' ? 'Metrics' : 'Probe').padEnd(40)} ${terminal.style('cyan', `http://${probes.host}:${probes.port}${path}`)}`,
    );
  for (const { service, host, port } of serving.backends)
    terminal.line(`  ${printable(`Demo backend of Service ${service}`).padEnd(40)} http://${host}:${port}/`);

  terminal.heading('Try');
  for (const command of commands(serving, workspace)) terminal.line(`  ${printable(command)}`);
}

function urlOf({ protocol }: ListenerConfig, { host, port }: Address): string {
  const path = protocol === 'HTTP' || protocol === 'HTTPS' ? '/' : '';
  return `${protocol.toLowerCase()}://${formatAddress(host, port)}${path}`;
}

const shownCommands = 8;

/** A request for each rule of each route, and a review that the webhook denies. */
function commands(serving: Serving, workspace: Workspace): readonly string[] {
  const requests = workspace
    .objects()
    .flatMap(({ candidate: { resource } }) =>
      resource.kind === 'HTTPRoute' || resource.kind === 'GRPCRoute' ? requestsOf(resource, serving, workspace) : [],
    );
  const { webhook } = serving;
  const review = `curl --cacert ${webhook.caFile} -H 'content-type: application/json' --data @examples/review.json https://${webhook.host}:${webhook.port}/validate`;
  return [
    ...requests.slice(0, shownCommands),
    review,
    `curl http://${serving.probes.host}:${serving.probes.port}/metrics`,
  ];
}

function requestsOf(route: Resource<RequestRouteKind>, serving: Serving, workspace: Workspace): readonly string[] {
  const { namespace, name } = route.ref;
  const attached = workspace.kernel.read
    .query(attachments, route.kind, namespace, name)
    .find(({ outcome }) => outcome.type === 'attached');
  if (attached === undefined || attached.outcome.type !== 'attached') return [];
  const listenerName = attached.outcome.listeners[0]?.name;
  const place = serving.listeners.find(
    ({ listener }) => listener.gateway === qualifiedName(attached.parent) && listener.name === listenerName,
  );
  const [address] = place?.addresses ?? [];
  if (place === undefined || address === undefined) return [];
  const { listener } = place;
  const hostname = route.spec?.hostnames?.[0]?.replace(/^\*\./, 'www.');
  return route.kind === 'GRPCRoute'
    ? callsOf(route, grpcurlTarget(listener, address, hostname))
    : curlsOf(route, curlTarget(listener, address, hostname));
}

function curlsOf(route: Resource<'HTTPRoute'>, { options, url }: CurlTarget): readonly string[] {
  return (route.spec?.rules ?? []).map(({ matches }) => {
    const match = matches?.[0];
    const headers = (match?.headers ?? [])
      .map((header) => `-H ${shellWord(`${header.name ?? ''}: ${header.value ?? ''}`)} `)
      .join('');
    const method = match?.method === undefined || match.method === 'GET' ? '' : `-X ${shellWord(match.method)} `;
    return `curl -i ${method}${headers}${options}${shellWord(`${url}${pathMatchOf(match?.path).value}`)}`;
  });
}

/** Calls of methods that are named exactly. Other methods are unknown without the service. */
function callsOf(route: Resource<'GRPCRoute'>, target: string): readonly string[] {
  return (route.spec?.rules ?? []).flatMap(({ matches }) => {
    const call = matches?.[0]?.method;
    const { service = '', method = '' } = call ?? {};
    return matchTypeOf(call) === 'Exact' && service !== '' && method !== ''
      ? [`grpcurl ${target} ${shellWord(`${service}/${method}`)}`]
      : [];
  });
}

function grpcurlTarget(listener: ListenerConfig, { host, port }: Address, hostname: string | undefined): string {
  return `${listener.protocol === 'HTTPS' ? '-insecure' : '-plaintext'} ${hostname === undefined ? '' : `-authority ${shellWord(hostname)} `}${formatAddress(host, port)}`;
}

interface CurlTarget {
  /** With a blank at the end, if there are any. */
  readonly options: string;
  /** The URL up to the path. */
  readonly url: string;
}

/** TLS needs the hostname in the handshake, so an option overrides the address. */
function curlTarget(listener: ListenerConfig, address: Address, hostname: string | undefined): CurlTarget {
  if (listener.protocol === 'HTTP') {
    const options = hostname === undefined ? '' : `-H ${shellWord(`host: ${hostname}`)} `;
    return { options, url: urlOf(listener, address).slice(0, -1) };
  }
  const name = hostname ?? listener.hostname?.replace(/^\*\./, 'www.') ?? 'localhost';
  const to = `${name}:${defaultPorts.https}:${formatAddress(address.host, address.port)}`;
  return { options: `-k --connect-to ${shellWord(to)} `, url: `https://${name}` };
}

const plainWord = /^[\w@%+=:,./-]+$/;

/** One word for a shell, whatever users wrote in it. */
function shellWord(text: string): string {
  return plainWord.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
