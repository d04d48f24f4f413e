import { createServer } from 'node:http2';
import type { ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';

const piece = Buffer.alloc(60 * 1024);

const largeValue = 'a'.repeat(30_000);

/**
 * A backend that speaks HTTP/2, takes no byte of any request body, and answers only `/piece`, with 60 KiB, and `/trailers`, with one byte and
 * 30 KB of trailers. It does not mind resets, so that its connections stay. As a program: prints its port.
 */
export async function startDeafBackend(): Promise<{ readonly port: number; close(): void }> {
  const server = createServer({
    streamResetBurst: 100_000,
    streamResetRate: 100_000,
    // Node resets new streams beyond 10 MB, which responses to stalled clients exceed until the data plane ends them.
    maxSessionMemory: 1_000,
    settings: { initialWindowSize: 0, maxConcurrentStreams: 100_000 },
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined).on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (headers[':path'] === '/piece') {
      stream.respond();
      stream.end(piece);
    } else if (headers[':path'] === '/trailers') {
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-large': largeValue }));
      stream.respond({ trailer: 'x-large' }, { waitForTrailers: true });
      stream.end('a');
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

if (process.argv[1]?.endsWith('deaf-backend.ts') === true) process.stdout.write(`${(await startDeafBackend()).port}\n`);
