import {
  bodyOf,
  findKind,
  isKindName,
  readView,
  tables,
  type FieldProblem,
  type KindEntry,
  type KindName,
  type ObjectNode,
} from '../schema/index.ts';
import { isRecord } from '../text/record.ts';
import type { ObjectRef } from './reference.ts';
import type { ObjectMeta, Resource } from './resource.ts';
import { groupOf } from '../text/api-version.ts';

/** The result of parsing a JSON value. */
export type ParsedObject =
  /** A kind that is evaluated. `status` is the raw JSON, unchanged: other controllers own parts of it. */
  | { readonly type: 'resource'; readonly resource: Resource; readonly status: unknown; readonly apiVersion: string }
  /** A known kind of the Gateway API that is not served yet. */
  | { readonly type: 'unserved'; readonly ref: ObjectRef; readonly apiVersion: string; readonly deleting: boolean }
  /** A kind outside the Gateway API. */
  | { readonly type: 'foreign'; readonly ref: ObjectRef; readonly apiVersion: string }
  | InvalidObject;

/** Not a Kubernetes object. */
interface InvalidObject {
  readonly type: 'invalid';
  readonly problem: string;
}

/** The result before the body is read. */
export type IdentifiedObject = IdentifiedResource | Exclude<ParsedObject, { readonly type: 'resource' }>;

export interface IdentifiedResource {
  readonly type: 'resource';
  readonly kind: KindName;
  readonly ref: ObjectRef;
  readonly apiVersion: string;
  readonly deleting: boolean;
  /** Reads the body of `json`: the object itself, or the object with its defaults. */
  readonly read: (json: unknown) => Resource;
  /** Like `read`, for a view of the body that has been parsed already. */
  readonly adopt: (view: object) => Resource;
}

/**
 * Parses one untrusted object. Never throws.
 *
 * @param json any JSON value
 * @param order sorts objects without creationTimestamp by their order of appearance; compared as a string
 */
export function parseObject(json: unknown, order = ''): ParsedObject {
  const identified = identifyObject(json, order);
  if (identified.type !== 'resource') return identified;
  return {
    type: 'resource',
    resource: identified.read(json),
    status: isRecord(json) ? own(json, 'status') : undefined,
    apiVersion: identified.apiVersion,
  };
}

/** Like `parseObject`, for callers that do not need the body or have already read it. */
export function identifyObject(json: unknown, order = ''): IdentifiedObject {
  if (!isRecord(json))
    return {
      type: 'invalid',
      problem: `not a Kubernetes object: must be an object with apiVersion, kind and metadata, not ${jsonType(json)}`,
    };
  const apiVersion = own(json, 'apiVersion');
  const kind = own(json, 'kind');
  if (typeof apiVersion !== 'string' || apiVersion === '') return missing('apiVersion', 'gateway.networking.k8s.io/v1');
  if (typeof kind !== 'string' || kind === '') return missing('kind', 'HTTPRoute');
  const metadata = own(json, 'metadata');
  const name = isRecord(metadata) ? own(metadata, 'name') : undefined;
  const group = groupOf(apiVersion);
  const entry = findKind(group, kind);
  if (entry === undefined) return { type: 'foreign', ref: foreignRef(group, kind, metadata), apiVersion };
  if (!isRecord(metadata) || typeof name !== 'string' || name === '') return missing('metadata.name', 'my-route');
  // Names and namespaces are parts of keys here, and parts of URLs in the Kubernetes API.
  if (name.includes('/')) return { type: 'invalid', problem: 'metadata.name must not contain "/"' };
  const ref = { group, kind, namespace: namespaceOf(metadata, entry), name };
  if (ref.namespace.includes('/')) return { type: 'invalid', problem: 'metadata.namespace must not contain "/"' };
  const deleting = isDeleting(metadata);
  if (!isKindName(kind)) return { type: 'unserved', ref, apiVersion, deleting };
  const frame = (): Frame => ({ kind, ref, meta: { ...metaOf(metadata, order), ...uidOf(kind, metadata) } });
  return {
    type: 'resource',
    kind,
    ref,
    apiVersion,
    deleting,
    read: (body) => readResource(frame(), bodyOf(tables[kind], json), isRecord(body) ? body : {}),
    adopt: (view) => adopted(frame(), view),
  };
}

/** Some kinds have no name, for example a Kustomization. */
function foreignRef(group: string, kind: string, metadata: unknown): ObjectRef {
  if (!isRecord(metadata)) return { group, kind, namespace: '', name: '' };
  const name = own(metadata, 'name');
  return { group, kind, namespace: namespaceOf(metadata, undefined), name: typeof name === 'string' ? name : '' };
}

type Frame = Pick<Resource, 'kind' | 'ref' | 'meta'>;

function readResource(frame: Frame, table: ObjectNode, json: Record<string, unknown>): Resource {
  const { kind } = frame;
  // Evaluation reads neither status (which has its own cell) nor secret data (represented by certificate facts).
  const { status: _status, ...rest } = json;
  const body = kind === 'Secret' ? { type: rest['type'] } : rest;
  const { view, unreadable } = readView(table, body);
  const specMissing = kind in specKinds && !isRecord(own(json, 'spec')) ? [noSpec] : [];
  return { ...view, ...frame, unreadable: dedupe([...unreadable, ...specMissing]) };
}

function adopted(frame: Frame, view: object): Resource {
  const { apiVersion: _apiVersion, metadata: _metadata, status: _status, ...body } = view as Record<string, unknown>;
  const { kind, ref, meta } = frame;
  return Object.assign(body, { kind, ref, meta, unreadable: [] });
}

const specKinds: Partial<Record<KindName, true>> = {
  Gateway: true,
  ListenerSet: true,
  BackendTLSPolicy: true,
  XBackend: true,
  XBackendTrafficPolicy: true,
  XTelemetryPolicy: true,
  HTTPRoute: true,
  GRPCRoute: true,
  TLSRoute: true,
  TCPRoute: true,
  UDPRoute: true,
  GatewayClass: true,
  HostnamePolicy: true,
};
const noSpec: FieldProblem = { path: ['spec'], expected: 'an object', found: 'nothing' };

function dedupe(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const seen = new Set<string>();
  return problems.filter((problem) => {
    const key = JSON.stringify(problem.path);
    return seen.has(key) ? false : seen.add(key);
  });
}

function metaOf(metadata: Record<string, unknown>, order: string): ObjectMeta {
  const generation = own(metadata, 'generation');
  const created = own(metadata, 'creationTimestamp');
  return {
    generation: typeof generation === 'number' && Number.isSafeInteger(generation) ? generation : 0,
    created: typeof created === 'string' && created !== '' ? created : `~${order}`,
    labels: stringsOf(own(metadata, 'labels')),
    deleting: isDeleting(metadata),
  };
}

function uidOf(kind: KindName, metadata: Record<string, unknown>): Pick<ObjectMeta, 'uid'> {
  const uid = kind === 'XBackend' ? own(metadata, 'uid') : undefined;
  return typeof uid === 'string' ? { uid } : {};
}

function isDeleting(metadata: Record<string, unknown>): boolean {
  return typeof own(metadata, 'deletionTimestamp') === 'string';
}

function stringsOf(json: unknown): Readonly<Record<string, string>> {
  if (!isRecord(json)) return {};
  const entries = Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(entries);
}

function namespaceOf(metadata: Record<string, unknown>, entry: KindEntry | undefined): string {
  if (entry !== undefined && !entry.namespaced) return '';
  const namespace = own(metadata, 'namespace');
  if (typeof namespace === 'string' && namespace !== '') return namespace;
  return entry === undefined ? '' : 'default';
}

function missing(field: string, example: string): InvalidObject {
  return { type: 'invalid', problem: `${field} must be a non-empty string, for example "${field}: ${example}"` };
}

function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function jsonType(json: unknown): string {
  if (json === null) return 'null';
  return Array.isArray(json) ? 'a list' : `a ${typeof json}`;
}
