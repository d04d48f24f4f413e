import { ofQualifiedName } from '../core/resources/reference.ts';
import type { CertificateSource } from '../certificates/index.ts';
import { serveChannel, type ChannelServer, type ConfigurationSource, type ServeOptions } from '../channel/index.ts';
import { dataPlaneUser } from '../controller/index.ts';
import type { ApiClient } from '../kubernetes/index.ts';
import type { Logger } from '../telemetry/index.ts';
import { reviewToken } from './token-review.ts';

export interface DataPlaneChannelOptions {
  readonly client: ApiClient;
  readonly certificates: CertificateSource;
  /** Audience of the tokens with which data planes authenticate. */
  readonly audience: string;
  /** The configuration of a Gateway (`namespace/name`). `undefined` if it is not served here. */
  readonly sourceOf: (gateway: string) => ConfigurationSource | undefined;
  readonly log: Logger;
  /** 0 for any free port. */
  readonly port: number;
}

/** Serves the data planes of a cluster. Each gets only the configuration of its own Gateway. */
export async function serveDataPlanes({
  client,
  certificates,
  audience,
  sourceOf,
  log,
  port,
}: DataPlaneChannelOptions): Promise<ChannelServer> {
  const options: ServeOptions = {
    host: '::',
    port,
    certificate: certificates,
    sourceOf,
    log,
    async authenticate({ gateway, token }) {
      const { namespace, name } = ofQualifiedName(gateway);
      return (await reviewToken(client, audience, token)) === dataPlaneUser(namespace, name);
    },
  };
  try {
    return await serveChannel(options);
  } catch (error) {
    // Machines without IPv6.
    if (!(error instanceof Error && 'code' in error && error.code === 'EAFNOSUPPORT')) throw error;
    return serveChannel({ ...options, host: '0.0.0.0' });
  }
}
