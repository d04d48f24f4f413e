import { Agent } from 'undici';
import { loadCredentials } from '../../../src/kubernetes/index.ts';

/** Requests with bodies that are JSON already: what is nested too deeply for JSON.stringify, too. */
export interface Store {
  /** The status of the answer. */
  send(method: 'POST' | 'PATCH' | 'DELETE', path: string, text?: string): Promise<number>;
  close(): Promise<void>;
}

export async function openStore(): Promise<Store> {
  const credentials = await loadCredentials('default');
  const { headers, tls } = await credentials.prove();
  const agent = new Agent({ connect: { ...tls }, connections: 32, allowH2: false });
  return {
    async send(method, path, text) {
      const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const { statusCode, body } = await agent.request({
        origin: credentials.server,
        path,
        method,
        headers: { ...headers, 'content-type': contentType },
        body: text ?? null,
      });
      await body.dump();
      return statusCode;
    },
    close: () => agent.close(),
  };
}
