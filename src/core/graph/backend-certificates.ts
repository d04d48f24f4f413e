import { defineQuery } from '../incremental/index.ts';
import type { Path } from '../resources/path.ts';
import { readObject } from './inputs.ts';
import { resolveReference, type ReferenceOutcome } from './references.ts';
import { strata } from './strata.ts';

/** The reference to a client certificate for connections to backends, and its location. */
export type ClientCertificate = (ReferenceOutcome | { readonly type: 'unset' }) & { readonly path: Path };

/** The client certificate of a Gateway for connections to backends; `undefined` without one. */
export const backendCertificate = defineQuery({
  name: 'backendCertificate',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): (ReferenceOutcome & { readonly path: Path }) | undefined {
    const spec = readObject(read, 'Gateway', namespace, gateway)?.spec;
    // Before v1.4, the field had another location.
    const [place, ref] =
      spec?.tls?.backend === undefined
        ? [['backendTLS'], spec?.backendTLS?.clientCertificateRef]
        : [['tls', 'backend'], spec.tls.backend.clientCertificateRef];
    return (
      ref && {
        path: ['spec', ...place, 'clientCertificateRef'],
        ...resolveReference(read, { kind: 'Gateway', namespace }, 'Secret', ref),
      }
    );
  },
});

/** The client certificate for connections to an XBackend; `undefined` unless its TLS mode requires one (BackendTLS.mode). */
export const xBackendCertificate = defineQuery({
  name: 'xBackendCertificate',
  stratum: strata.links,
  compute(read, namespace: string, name: string): ClientCertificate | undefined {
    const { mode, clientCertificateRef: ref } = readObject(read, 'XBackend', namespace, name)?.spec?.tls ?? {};
    if (mode !== 'ClientAndServer') return undefined;
    const path = ['spec', 'tls', 'clientCertificateRef'];
    return ref === undefined
      ? { type: 'unset', path }
      : { path, ...resolveReference(read, { kind: 'XBackend', namespace }, 'Secret', ref) };
  },
});
