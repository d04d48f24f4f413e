import { backendKey } from '../graph/backends/backend-object.ts';
import { installationCell, readObject } from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import { gatewaysByAge, gatewaysOfService } from '../rules/engine/backend-users.ts';
import { partProblems } from '../rules/engine/validity.ts';
import { resolvedRefs } from './conditions.ts';
import { acceptance, gatewayEntry, type PolicyStatus } from './policy.ts';

/** The maximum number of entries in the status of an XBackend (BackendStatus.ancestors). */
const maxEntries = 32;

/**
 * Our entries in the status of an XBackend: one for each Gateway that we manage with routes that refer to it, the oldest first;
 * `undefined` if there is none (BackendStatus). Further Gateways also serve it, and have no entry.
 */
export function xBackendStatus(read: Reader, namespace: string, name: string): PolicyStatus | undefined {
  const backend = readObject(read, 'XBackend', namespace, name);
  const gateways = gatewaysByAge(read, read.list(gatewaysOfService, backendKey({ kind: 'XBackend', namespace, name })));
  if (backend === undefined || gateways.length === 0) return undefined;
  const problems = read.query(partProblems, 'XBackend', namespace, name);
  const controllerName = read.input(installationCell)?.controllerName ?? '';
  const outcomes = { Accepted: acceptance(problems), ResolvedRefs: resolvedRefs(problems) };
  return {
    ancestors: gateways
      .slice(0, maxEntries)
      .map((gateway) => gatewayEntry(gateway, { controllerName, generation: backend.meta.generation, outcomes })),
  };
}
