import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { expectShortLives } from '../../../src/cli/process/garbage-collection.ts';

// The least that a review costs with Node: its HTTPS server, `JSON.parse` of the body and `JSON.stringify` of an answer
// that allows everything. Arguments: file of the certificate, file of its key. Prints the port it listens on.

const [certificateFile = '', keyFile = ''] = process.argv.slice(2);
const [cert, key] = await Promise.all([readFile(certificateFile), readFile(keyFile)]);

interface Review {
  readonly request: { readonly uid: string };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { uid } = (JSON.parse(Buffer.concat(chunks).toString()) as Review).request;
    const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } };
    const body = JSON.stringify(review);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
}

expectShortLives();
const server = createServer({ cert, key, keepAliveTimeout: 120_000 }, answer);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' && address !== null ? address.port : address);
});
