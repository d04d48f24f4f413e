import { request, type Agent } from 'node:https';
import { findKind } from '../../../src/core/schema/index.ts';

/** An answer of the webhook. */
export interface Answer {
  readonly status: number;
  readonly bytes: number;
  readonly text: string;
}

/** The text of an AdmissionReview that creates an object, or changes another into it. */
export function reviewOf(
  objectText: string,
  { group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string },
  oldText = 'null',
): string {
  const type = { group, version, kind };
  const resource = findKind(group, kind)?.plural ?? '';
  const head = JSON.stringify({
    uid: 'attack',
    kind: type,
    requestKind: type,
    resource: { group, version, resource },
    name: 'large',
    namespace: 'shop',
    operation: oldText === 'null' ? 'CREATE' : 'UPDATE',
    userInfo: { username: 'mallory', groups: ['system:authenticated'] },
    dryRun: false,
  });
  return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":${head.slice(0, -1)},"object":${objectText},"oldObject":${oldText}}}`;
}

/** Sends a body to the webhook over HTTPS. Rejects where no answer comes. */
export function postReview(port: number, body: string | Buffer, agent?: Agent): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  // The certificate belongs to an authority of the process alone.
  const sent = request({
    host: '127.0.0.1',
    port,
    path: '/validate?timeout=10s',
    method: 'POST',
    headers,
    rejectUnauthorized: false,
    timeout: 30_000,
    ...(agent === undefined ? {} : { agent }),
  });
  sent.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject).on('end', () => {
      const bytes = Buffer.concat(chunks);
      resolve({ status: response.statusCode ?? 0, bytes: bytes.length, text: bytes.toString() });
    });
  });
  sent.on('timeout', () => sent.destroy(new Error('no answer for 30 s'))).on('error', reject);
  sent.end(body);
  return promise;
}
