import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/program.ts';
import { interopCases } from '../cases.ts';
import { interopPrograms } from '../programs.ts';
import { run, versionOfModule } from './process.ts';
import type { Client, Place } from './report.ts';

/** The interop server of grpc-go on a loopback port, until `stop`. */
export interface GrpcServer {
  readonly port: number;
  /** The folder with the programs. */
  readonly programs: string;
  stop(): void;
}

/** Starts the interop server; builds it where the cache has none. */
export async function startGrpcServer(): Promise<GrpcServer> {
  const programs = interopPrograms();
  const port = await freePort();
  const server = spawn(join(programs, 'server'), [`--port=${port}`], { stdio: 'ignore' });
  await answering(port);
  return { port, programs, stop: () => void server.kill('SIGKILL') };
}

/** Waits until something listens on a loopback port. */
export async function answering(port: number): Promise<void> {
  await eventually(async () => {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
    } finally {
      socket.destroy();
    }
  });
}

/** The interop client of grpc-go, over HTTP and HTTPS. */
export function grpcClient(programs: string, { host, http, https, caFile }: Place): Client {
  const call = async (name: string, ...args: readonly string[]): Promise<void> => {
    await run(join(programs, 'client'), [`--server_host=${host}`, `--test_case=${name}`, ...args]);
  };
  const trusting = [
    '--use_tls=true',
    '--use_test_ca=true',
    `--ca_file=${caFile}`,
    '--server_host_override=shop.example',
  ];
  const plain = interopCases.map((name) => [`gRPC, ${name}`, () => call(name, `--server_port=${http}`)] as const);
  const secure = interopCases.map(
    (name) => [`gRPC, TLS, ${name}`, () => call(name, `--server_port=${https}`, ...trusting)] as const,
  );
  return {
    name: `grpc-go ${versionOfModule(join(programs, 'client'), 'google.golang.org/grpc')}`,
    checks: Object.fromEntries([...plain, ...secure]),
  };
}
