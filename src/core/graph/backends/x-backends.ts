import { defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import { carries } from './app-protocols.ts';
import { portAbsent, type PortAbsent } from './backend-object.ts';
import { usesTls } from './backend-validation.ts';
import { readObject } from '../inputs.ts';
import { whyNotFound, type NotFound } from '../observed.ts';
import { transportOf, type Transport } from '../protocols.ts';
import { strata } from '../strata.ts';

/** The fields of an XBackend that decide whether a reference to it resolves. */
export interface XBackendTerms {
  /** Absent for XBackends of bundles before v1.7. */
  readonly port?: number;
  readonly protocol?: string;
  readonly isEncrypted: boolean;
}

/** The terms of an XBackend without its other fields; `undefined` if it does not exist. */
export const xBackendTerms = defineQuery({
  name: 'xBackendTerms',
  stratum: strata.links,
  compute(read, namespace: string, name: string): XBackendTerms | undefined {
    const backend = readObject(read, 'XBackend', namespace, name);
    if (backend === undefined) return undefined;
    const { port, protocol } = backend.spec ?? {};
    return {
      ...(port?.number === undefined ? {} : { port: port.number }),
      ...(protocol === undefined ? {} : { protocol }),
      isEncrypted: usesTls(backend),
    };
  },
});

/** Why a reference to an XBackend does not resolve. The members are those of `BackendOutcome`. */
export type XBackendProblem =
  | NotFound
  | { readonly type: 'notPermitted' }
  | PortAbsent
  | { readonly type: 'unsupportedProtocol'; readonly protocol: string; readonly needed?: Transport };

interface Referrer {
  /** The kind of the route. */
  readonly kind: string;
  readonly namespace: string;
}

/**
 * Returns the port of an XBackend for routes of a kind, or why they cannot use it. References need no port, and never cross
 * namespaces: ReferenceGrants do not apply (GEP-4894, "Route Attachment").
 */
export function portOfXBackend(
  read: Reader,
  from: Referrer,
  { namespace, name, port }: { readonly namespace: string; readonly name: string; readonly port?: number },
): number | XBackendProblem {
  if (namespace !== from.namespace) return { type: 'notPermitted' };
  const terms = read.query(xBackendTerms, namespace, name);
  if (terms === undefined) return whyNotFound(read, 'XBackend', namespace);
  if (terms.port === undefined) return portAbsent([]);
  // The experimental CRDs reject a port. The standard ones do not.
  if (port !== undefined && port !== terms.port) return portAbsent([{ port: terms.port }]);
  return protocolProblem(terms, from.kind) ?? terms.port;
}

function protocolProblem({ protocol, isEncrypted }: XBackendTerms, routeKind: string): XBackendProblem | undefined {
  if (transportOf(routeKind) === 'UDP') {
    // All protocols of an XBackend, and TLS, are over TCP. Without them, the route determines the protocol (BackendSpec.protocol).
    const over = protocol ?? (isEncrypted ? 'TLS' : undefined);
    return over === undefined ? undefined : { type: 'unsupportedProtocol', protocol: over, needed: 'UDP' };
  }
  return protocol === undefined || carries(protocol, routeKind) ? undefined : { type: 'unsupportedProtocol', protocol };
}
