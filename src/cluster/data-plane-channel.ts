import type { CertificateSource } from '../certificates/index.ts';
import { serveChannel, type ChannelServer, type ConfigurationSource, type ServeOptions } from '../channel/index.ts';
import { dataPlaneUser } from '../controller/index.ts';
import type { ApiClient } from '../kubernetes/index.ts';
import type { Logger } from '../telemetry/index.ts';
import { reviewToken } from './token-review.ts';

export interface DataPlaneChannelOptions {
  readonly client: ApiClient;
  readonly certificates: CertificateSource;
  /** Of the tokens that data planes prove themselves with. */
  readonly audience: string;
  /** The configuration of a Gateway (`namespace/name`) that is served here. */
  readonly sourceOf: (gateway: string) => ConfigurationSource | undefined;
  readonly log: Logger;
  /** 0 for any. */
  readonly port: number;
}

/** Serves the data planes of a cluster; each gets its own Gateway's configuration and no other's. */
export async function serveDataPlanes({ client, certificates, audience, sourceOf, log, port }: DataPlaneChannelOptions): Promise<ChannelServer> {
  const options: ServeOptions = {
    host: '::', port, certificate: certificates, sourceOf, log,
    async authenticate({ gateway, token }) {
      const [namespace = '', name = ''] = gateway.split('/');
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
