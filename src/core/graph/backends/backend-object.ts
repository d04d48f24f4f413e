import { tables } from '../../schema/index.ts';
import { backendGroupKind } from '../../semantics/intended.ts';
import { maxShown } from '../../text/display.ts';

/** The kinds with ports and EndpointSlices of their own: local Services, and Services imported from other clusters (GEP-1748). */
export const serviceKinds = ['Service', 'ServiceImport'] as const;
export type ServiceKind = (typeof serviceKinds)[number];

/** The kinds of objects that backendRefs may name: those, and XBackends (GEP-4894). */
export const backendKinds = [...serviceKinds, 'XBackend'] as const;
export type BackendKind = (typeof backendKinds)[number];

/** An object that a backendRef or a policy names. */
export interface BackendObject {
  readonly kind: BackendKind;
  readonly namespace: string;
  readonly name: string;
}

/** A Service or ServiceImport. */
export interface ServiceObject extends BackendObject {
  readonly kind: ServiceKind;
}

/** A Service or ServiceImport, and one of its ports: its key, or its name in a policy. The arguments of queries. */
export type BackendPort = readonly [kind: ServiceKind, namespace: string, name: string, port: string];

/** A backend has no such port, but `count` others. Only the first few are kept: a backend can have as many for each of thousands of references. */
export interface PortAbsent {
  readonly type: 'portAbsent';
  readonly ports: readonly number[];
  readonly count: number;
}

/** Returns the outcome for a port that a backend with these ports does not have. */
export function portAbsent(ports: readonly { readonly port?: number }[]): PortAbsent {
  return { type: 'portAbsent', ports: ports.slice(0, maxShown).map(({ port = 0 }) => port), count: ports.length };
}

/** Returns the backend kind of a group and kind; `undefined` for an unsupported kind. */
export function backendKindOf(ref: {
  readonly group?: string | undefined;
  readonly kind?: string | undefined;
}): BackendKind | undefined {
  const { group, kind } = backendGroupKind(ref);
  return backendKinds.find((known) => known === kind && tables[known].group === group);
}

export function isService(backend: BackendObject): backend is ServiceObject {
  return backend.kind !== 'XBackend';
}

/** The kind that keys of backends do not name. */
const unnamedKind = 'Service';

/** Returns the key of a backend in indexes and configuration: `namespace/name` for Services, `<kind>/namespace/name` otherwise. */
export function backendKey({ kind, namespace, name }: BackendObject): string {
  // Always with a slash: more may follow the key.
  return (kind === unnamedKind ? [namespace, name] : [kind, namespace, name]).join('/');
}

/** Returns the backend of a text that begins with such a key, and the rest of the text after the next slash. */
export function ofBackendKey(text: string): { readonly backend: BackendObject; readonly rest: string } {
  const [first = '', ...others] = text.split('/');
  // Names of namespaces are in lower case, so none is a kind.
  const kind = backendKinds.find((known) => known === first);
  const [namespace = '', name = '', ...rest] = kind === undefined ? [first, ...others] : others;
  return { backend: { kind: kind ?? unnamedKind, namespace, name }, rest: rest.join('/') };
}
