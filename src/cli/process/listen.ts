import type { AddressInfo } from 'node:net';

/** A server of probes, or a Fastify instance. */
interface Listening {
  listen(options: { readonly host: string; readonly port: number }): Promise<unknown>;
  readonly server: { address(): string | AddressInfo | null };
}

/** Listens on all addresses, because kubelets, Prometheus and API servers call from other hosts. Returns the port. */
export async function listenEverywhere(app: Listening, port: number): Promise<number> {
  try {
    await app.listen({ host: '::', port });
  } catch (error) {
    // The machine has no IPv6.
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
