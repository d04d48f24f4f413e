import { defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Path } from '../../resources/path.ts';
import type { Resource } from '../../resources/resource.ts';
import { maxClientAuthorities, readObject } from '../inputs.ts';
import { servingGateway, type ListenerOwner } from './listener-sets.ts';
import type { ListenerNode } from './listeners.ts';
import { terminatesTls } from '../protocols.ts';
import { resolveAuthorities, type AuthorityNode } from '../references.ts';
import { strata } from '../strata.ts';

/** The validation of client certificates that a Gateway requests. */
export interface ClientValidationNode {
  /** The location in the Gateway. */
  readonly path: Path;
  /** An open enum; absent: AllowValidOnly. */
  readonly mode?: string;
  readonly authorities: readonly AuthorityNode[];
}

type FrontendView = NonNullable<NonNullable<NonNullable<Resource<'Gateway'>['spec']>['tls']>['frontend']>;

/** The client validation for TLS listeners on a port: the entry for that port, or the default (FrontendTLSConfig). */
const frontendValidation = defineQuery({
  name: 'frontendValidation',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string, port: string): ClientValidationNode | undefined {
    const frontend: FrontendView = readObject(read, 'Gateway', namespace, gateway)?.spec?.tls?.frontend ?? {};
    const index = (frontend.perPort ?? []).findIndex((one) => String(one.port) === port);
    const [place, tls] =
      index === -1 ? [['default'], frontend.default] : [['perPort', index, 'tls'], frontend.perPort?.[index]?.tls];
    if (tls?.validation === undefined) return undefined;
    const { mode, caCertificateRefs = [] } = tls.validation;
    return {
      path: ['spec', 'tls', 'frontend', ...place, 'validation'],
      ...(mode === undefined ? {} : { mode }),
      authorities: resolveAuthorities(read, { kind: 'Gateway', namespace }, caCertificateRefs, maxClientAuthorities),
    };
  },
});

/** Returns the client validation of a listener, or `undefined` if client certificates are not required. */
export function clientValidationOf(
  read: Reader,
  owner: ListenerOwner,
  listener: ListenerNode,
): ClientValidationNode | undefined {
  const gateway = terminatesTls(listener) ? servingGateway(read, owner) : undefined;
  return gateway && read.query(frontendValidation, gateway.namespace, gateway.name, String(listener.port));
}
