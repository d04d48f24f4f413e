import type { CertificateSource } from '../certificates/index.ts';
import type { ConfigurationSource } from '../channel/source.ts';
import type { ApiClient } from '../kubernetes/index.ts';
import type { Logger } from '../telemetry/index.ts';

export interface DataPlaneChannelOptions {
  readonly client: ApiClient;
  readonly certificates: CertificateSource;
  /** Of the tokens that data planes prove themselves with. */
  readonly audience: string;
  /** The configuration of a Gateway (`namespace/name`) that is served here. */
  readonly sourceOf: (gateway: string) => ConfigurationSource | undefined;
  readonly log: Logger;
  readonly port: number;
}

/** Listens for data planes. Nothing answers yet: the remote end of the channel is to come. */
export async function serveDataPlanes({ port }: DataPlaneChannelOptions): Promise<{ readonly port: number; close(): Promise<void> }> {
  return { port, close: async () => {} };
}
