import type { AddressInfo } from 'node:net';

/** As much of a Fastify instance as this needs. */
interface Listening {
  listen(options: { readonly host: string; readonly port: number }): Promise<string>;
  readonly server: { address(): string | AddressInfo | null };
}

/** Listens on all addresses: kubelets, Prometheus and API servers call from elsewhere. Returns the port. */
export async function listenEverywhere(app: Listening, port: number): Promise<number> {
  try {
    await app.listen({ host: '::', port });
  } catch (error) {
    // Machines without IPv6.
    if (!isAddressMissing(error)) throw error;
    await app.listen({ host: '0.0.0.0', port });
  }
  const address = app.server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

function isAddressMissing(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL';
}
