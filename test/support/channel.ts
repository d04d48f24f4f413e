import {
  createAuthority,
  createCertificateSource,
  issueServingCertificate,
  type Authority,
  type ReplaceableSource,
} from '../../src/certificates/index.ts';
import {
  connectChannel,
  serveChannel,
  type ChannelConnection,
  type ChannelServer,
  type ConfigurationSource,
  type ConnectOptions,
  type ServeOptions,
} from '../../src/channel/index.ts';
import { createLogger } from '../../src/telemetry/index.ts';

export interface TestChannel {
  readonly server: ChannelServer;
  readonly authority: Authority;
  readonly certificate: ReplaceableSource;
}

const log = createLogger('silent');

/** The token that `startChannel` accepts for a Gateway. */
export function tokenOf(gateway: string): string {
  return `token-of-${gateway}`;
}

/** A server of the channel on loopback, with an authority of its own. */
export async function startChannel(
  sourceOf: (gateway: string) => ConfigurationSource | undefined,
  options: Partial<ServeOptions> = {},
): Promise<TestChannel> {
  const authority = await createAuthority();
  const certificate = createCertificateSource(
    await issueServingCertificate(authority, { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] }),
  );
  const server = await serveChannel({
    host: '127.0.0.1',
    port: 0,
    certificate,
    sourceOf,
    log,
    authenticate: ({ gateway, token }) => Promise.resolve(token === tokenOf(gateway)),
    ...options,
  });
  return { server, authority, certificate };
}

/** A connection to that server that wastes no time between attempts. */
export function connectTo(
  channel: TestChannel,
  options: Pick<ConnectOptions, 'gateway' | 'sink'> & Partial<ConnectOptions>,
): ChannelConnection {
  return connectChannel({
    address: `127.0.0.1:${channel.server.port}`,
    name: 'web-1',
    authorities: () => Promise.resolve(channel.authority.certificate),
    token: () => Promise.resolve(tokenOf(options.gateway)),
    log,
    pace: { pause: 10, longestPause: 50 },
    ...options,
  });
}
