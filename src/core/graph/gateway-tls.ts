import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import type { Path } from '../resources/path.ts';
import type { Resource } from '../resources/resource.ts';
import { authorityCell, readObject } from './inputs.ts';
import { servingGateway, type ListenerOwner } from './listener-sets.ts';
import type { ListenerNode } from './listeners.ts';
import { terminatesTls } from './protocols.ts';
import { resolveReference, resolveReferences, usableTargets, type ReferenceNode, type ReferenceOutcome } from './references.ts';
import { strata } from './strata.ts';

/** How a Gateway wants the certificates of clients to be checked. */
export interface ClientValidationNode {
  /** Where in the Gateway it stands. */
  readonly path: Path;
  /** An open enum; absent: AllowValidOnly. */
  readonly mode?: string;
  readonly authorities: readonly ReferenceNode[];
}

type FrontendView = NonNullable<NonNullable<NonNullable<Resource<'Gateway'>['spec']>['tls']>['frontend']>;

/** What holds for listeners on a port that terminate TLS: what is said for that port, otherwise the default (FrontendTLSConfig). */
const frontendValidation = defineQuery({
  name: 'frontendValidation',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string, port: string): ClientValidationNode | undefined {
    const frontend: FrontendView = readObject(read, 'Gateway', namespace, gateway)?.spec?.tls?.frontend ?? {};
    const index = (frontend.perPort ?? []).findIndex((one) => String(one.port) === port);
    const [place, tls] = index === -1 ? [['default'], frontend.default] : [['perPort', index, 'tls'], frontend.perPort?.[index]?.tls];
    if (tls?.validation === undefined) return undefined;
    const { mode, caCertificateRefs = [] } = tls.validation;
    return {
      path: ['spec', 'tls', 'frontend', ...place, 'validation'],
      ...(mode === undefined ? {} : { mode }),
      authorities: resolveReferences(read, { kind: 'Gateway', namespace }, 'ConfigMap', caCertificateRefs),
    };
  },
});

/** How the clients of a listener have to prove who they are; `undefined` where they need not. */
export function clientValidationOf(read: Reader, owner: ListenerOwner, listener: ListenerNode): ClientValidationNode | undefined {
  const gateway = terminatesTls(listener) ? servingGateway(read, owner) : undefined;
  return gateway && read.query(frontendValidation, gateway.namespace, gateway.name, String(listener.port));
}

/** The certificate with which a Gateway proves to backends who it is, and where that stands; `undefined` without one. */
export const backendCertificate = defineQuery({
  name: 'backendCertificate',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): (ReferenceOutcome & { readonly path: Path }) | undefined {
    const spec = readObject(read, 'Gateway', namespace, gateway)?.spec;
    // Before v1.4 it stood elsewhere.
    const [place, ref] = spec?.tls?.backend === undefined ? [['backendTLS'], spec?.backendTLS?.clientCertificateRef] : [['tls', 'backend'], spec.tls.backend.clientCertificateRef];
    return ref && { path: ['spec', ...place, 'clientCertificateRef'], ...resolveReference(read, { kind: 'Gateway', namespace }, 'Secret', ref) };
  },
});

/** The certificates in PEM that usable references to authorities lead to. */
export function authoritiesIn(read: Reader, references: readonly ReferenceOutcome[]): readonly string[] {
  return usableTargets(references).flatMap((target) => {
    const slash = target.indexOf('/');
    const facts = read.input(authorityCell, target.slice(0, slash), target.slice(slash + 1));
    return facts?.type === 'authorities' ? facts.certificates : [];
  });
}
