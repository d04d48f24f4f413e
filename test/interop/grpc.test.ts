import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTarget } from '../attack/support/target.ts';
import type { Target } from '../attack/support/target.ts';
import { freePort } from '../support/program.ts';
import { interopCases } from './cases.ts';
import { startGrpcServer } from './clients/grpc.ts';
import type { GrpcServer } from './clients/grpc.ts';
import { addressOfGateway, gateway, service } from './objects.ts';
import type { Address } from './objects.ts';
import { hasGo, interopPrograms } from './programs.ts';

const isPossible = hasGo();
if (!isPossible)
  process.stderr.write(
    'test/interop: the interop cases of grpc-go are left out, because go is not installed (https://go.dev/dl).\n',
  );

(isPossible ? describe : describe.skip)('grpc-go, client and server, through a GRPCRoute', () => {
  let server: GrpcServer | undefined;
  let target: Target | undefined;
  let front: Address;

  beforeAll(async () => {
    server = await startGrpcServer();
    target = await startTarget(`${gateway(await freePort())}${service('interop', server.port)}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: interop, namespace: shop }
spec:
  parentRefs: [{ name: front }]
  rules: [{ backendRefs: [{ name: interop, port: ${server.port} }] }]
`);
    front = addressOfGateway(target);
  }, 600_000);

  afterAll(async () => {
    server?.stop();
    await target?.stop();
  });

  test.each(interopCases)(
    '%s',
    async (name) => {
      const client = spawn(
        join(interopPrograms(), 'client'),
        [`--server_host=${front.host}`, `--server_port=${front.port}`, `--test_case=${name}`],
        { stdio: ['ignore', 'ignore', 'pipe'] },
      );
      let said = '';
      client.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const [code] = (await once(client, 'close')) as [number];
      expect(code === 0 ? '' : said).toBe('');
    },
    60_000,
  );
});
