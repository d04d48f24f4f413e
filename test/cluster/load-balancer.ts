/**
 * Gives Services of type LoadBalancer an address of a range, as a cloud would; kube-proxy then serves it on the node:
 * node load-balancer.ts STATE_FOLDER CIDR. `spec.loadBalancerIP` is honoured where it is free and inside the range;
 * otherwise the Service stays pending.
 */
import { readFileSync } from 'node:fs';
import { Agent, request, type RequestOptions } from 'node:https';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { IncomingMessage } from 'node:http';

interface Service {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly resourceVersion: string };
  readonly spec: { readonly type?: string; readonly loadBalancerClass?: string; readonly loadBalancerIP?: string };
  readonly status: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

const [, , state, cidr] = process.argv;
if (state === undefined || cidr === undefined) throw new Error('usage: load-balancer.ts STATE_FOLDER CIDR');
const server = /server: "([^"]+)"/.exec(readFileSync(`${state}/admin.kubeconfig`, 'utf8'))?.[1];
if (server === undefined) throw new Error(`no server in ${state}/admin.kubeconfig`);
const pki = (name: string): Buffer => readFileSync(`${state}/pki/${name}`);
const agent = new Agent({ keepAlive: true, ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') });

const [network = '', bits = ''] = cidr.split('/');
const first = toNumber(network) + 1;
const last = first + 2 ** (32 - Number(bits)) - 3;
const owners = new Map<string, string>(); // address -> namespace/name

for (;;) {
  try {
    await follow();
  } catch (error) {
    report(error);
    await pause(500);
  }
}

/** Serves all Services, then every change, until the API server ends the watch. */
async function follow(): Promise<void> {
  const list = JSON.parse(await text(await call('/api/v1/services'))) as {
    readonly metadata: { readonly resourceVersion: string };
    readonly items: readonly Service[];
  };
  owners.clear();
  for (const service of list.items) remember(service); // addresses in use first
  for (const service of list.items) await serve(service).catch(report);
  const changes = await call(`/api/v1/services?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
  for await (const line of createInterface({ input: changes })) {
    const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: Service };
    if (type === 'ERROR') return;
    if (type === 'DELETED') release(nameOf(object));
    else await serve(object).catch(report);
  }
}

async function serve(service: Service): Promise<void> {
  const { spec, metadata } = service;
  if (spec.type !== 'LoadBalancer' || spec.loadBalancerClass !== undefined) {
    release(nameOf(service));
    return;
  }
  // A change that was made before the address was written comes without it: the Service keeps the address nevertheless.
  if (remember(service) || [...owners.values()].includes(nameOf(service))) return;
  const address = spec.loadBalancerIP ?? firstFree();
  if (!isInRange(address) || owners.has(address)) {
    console.log(`${nameOf(service)}: ${address} is not free in ${cidr}`);
    return;
  }
  owners.set(address, nameOf(service));
  try {
    await assign(address, metadata);
  } catch (error) {
    release(nameOf(service));
    throw error;
  }
  console.log(`${nameOf(service)}: ${address}`);
}

/** Writes the address of a Service into its status. */
async function assign(address: string, { namespace, name }: Service['metadata']): Promise<void> {
  const body = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: address }] } } });
  const answer = await call(`/api/v1/namespaces/${namespace}/services/${name}/status`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body,
  });
  await text(answer);
}

/** Notes the address that a Service has; false where it has none. */
function remember(service: Service): boolean {
  const address = service.status.loadBalancer?.ingress?.[0]?.ip;
  if (address !== undefined) owners.set(address, nameOf(service));
  return address !== undefined;
}

function release(name: string): void {
  for (const [address, owner] of owners) if (owner === name) owners.delete(address);
}

function firstFree(): string {
  let candidate = first;
  while (owners.has(toDotted(candidate))) candidate += 1;
  return toDotted(candidate);
}

function isInRange(address: string): boolean {
  return toNumber(address) >= first && toNumber(address) <= last;
}

function nameOf({ metadata }: Service): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function toDotted(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}

/** The API server's answer; rejects where it is no success. */
async function call(
  path: string,
  { body, ...options }: RequestOptions & { readonly body?: string } = {},
): Promise<IncomingMessage> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(server + path, { agent, ...options }, resolve)
      .on('error', reject)
      .end(body);
  });
  if ((answer.statusCode ?? 0) < 300) return answer;
  throw new Error(`${path}: ${answer.statusCode} ${await text(answer)}`);
}

function report(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
}
