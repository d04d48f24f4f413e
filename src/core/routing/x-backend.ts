import { httpVersionOf, type HttpVersion } from '../graph/backends/app-protocols.ts';
import type { BackendObject } from '../graph/backends/backend-object.ts';
import { xBackendCertificate } from '../graph/backend-certificates.ts';
import { usesTls } from '../graph/backends/backend-validation.ts';
import { numberOfKey, type ServicePortKey } from '../graph/backends/backends.ts';
import { selectedEndpoints } from '../graph/backends/endpoints.ts';
import { readObject } from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import { quoteRef } from '../resources/reference.ts';
import { ownerRefusal, partProblems } from '../rules/engine/validity.ts';
import { verification } from './backend-tls.ts';
import type { BackendTls, EndpointsConfig } from './config.ts';

/** The endpoints of a backend's port without their key. */
export type Destination = Omit<EndpointsConfig, 'kind' | 'key'>;

/**
 * The endpoints of a port of an XBackend. Nothing is sent to an XBackend that is not accepted: ignoring a part of it would
 * connect in another way than it requires ("MUST", GEP-4894).
 */
export function xBackendEndpoints(read: Reader, backend: BackendObject, port: ServicePortKey): Destination {
  const { namespace, name } = backend;
  const refusal = ownerRefusal(read.query(partProblems, 'XBackend', namespace, name));
  if (refusal !== undefined) return { addresses: [], failure: `${quoteRef(backend)}: ${refusal.message}` };
  const resource = readObject(read, 'XBackend', namespace, name);
  const { type, externalHostname, protocol = '' } = resource?.spec ?? {};
  const isEncrypted = resource !== undefined && usesTls(resource);
  const connection = {
    ...engineOf(httpVersionOf(protocol), isEncrypted),
    ...(isEncrypted
      ? {
          tls: {
            ...verification(read, 'XBackend', namespace, name),
            clientCertificate: clientCertificateOf(read, namespace, name),
          },
        }
      : {}),
  };
  if (type === 'EndpointSelector')
    return { addresses: read.query(selectedEndpoints, namespace, name, port), ...connection };
  return {
    addresses: [],
    external: { hostname: externalHostname?.hostname ?? '', port: numberOfKey(port) },
    ...connection,
  };
}

/** The client certificate of the Gateway is not for the hosts of others, and mode ServerOnly means that there is none. */
function clientCertificateOf(
  read: Reader,
  namespace: string,
  name: string,
): NonNullable<BackendTls['clientCertificate']> {
  const reference = read.query(xBackendCertificate, namespace, name);
  return reference === undefined || !('target' in reference) ? 'none' : { secret: reference.target };
}

/** Without TLS, any version means HTTP/1.1. */
function engineOf(version: HttpVersion | undefined, isEncrypted: boolean): Pick<EndpointsConfig, 'protocol'> {
  if (version === '2') return { protocol: isEncrypted ? 'h2' : 'h2c' };
  return version === '1.1' && isEncrypted ? { protocol: 'http/1.1' } : {};
}
