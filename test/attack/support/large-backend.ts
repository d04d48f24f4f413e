import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { firstOutput, spawnProgram } from './program.ts';

/** A backend in a process of its own, so that nobody else waits while it writes. As a program: prints its port. */
export async function startLargeBackend(): Promise<{ readonly port: number; stop(): void }> {
  const child = spawnProgram('test/attack/support/large-backend.ts');
  const line = await firstOutput(child);
  return { port: Number(line), stop: () => void child.kill('SIGKILL') };
}

if (process.argv[1]?.endsWith('large-backend.ts') === true) {
  const large = Buffer.alloc(1024 * 1024);
  const server = createServer(
    { keepAliveTimeout: 5_000 },
    (request, response) => void request.resume().on('end', () => response.end(request.url === '/large' ? large : 'ok')),
  );
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
}
