import type { Bundle } from './availability.ts';
import { applyDefaults } from './defaults.ts';
import { schemaTables, type SchemaKind } from './kinds.ts';
import type { Node } from './node.ts';
import { readView, type ReadView } from './reader.ts';
import { versionOf } from './served.ts';
import { trim } from './trim.ts';

/**
 * An object as the API server of a bundle judges it: unknown fields dropped, defaults filled in; values of the wrong
 * type are left out and listed. `undefined` where the bundle does not have such objects. Never throws.
 *
 * @param apiVersion as the object has it, `gateway.networking.k8s.io/v1`
 */
export function readStored(kind: SchemaKind, apiVersion: string, json: unknown, bundle: Bundle): ReadView<Node> | undefined {
  const version = versionOf(kind, apiVersion, bundle);
  if (version === undefined) return undefined;
  const body = version.body ?? schemaTables[kind].body;
  return readView<Node>(body, trim(body, applyDefaults(kind, json, bundle), bundle));
}
