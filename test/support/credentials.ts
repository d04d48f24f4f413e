import type { Credentials, Proof } from '../../src/kubernetes/index.ts';

/** Credentials that prove what they are given, or nothing. */
export function credentialsFor(server: string, prove: () => Proof = () => ({ headers: {}, tls: {} })): Credentials {
  return { server, namespace: undefined, proxy: undefined, prove: () => Promise.resolve(prove()) };
}
