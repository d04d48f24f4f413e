import type { ServerProcess } from '../processes.ts';

/** What clients use. A proxy can serve several of them on one port. */
export type Protocol = 'http' | 'webSocket' | 'https' | 'h2' | 'grpc' | 'tcp' | 'udp';

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where clients connect. */
export interface Peer {
  readonly name: string;
  readonly address: Address;
}

/** A running proxy. */
export interface Target extends Peer {
  readonly server: ServerProcess;
}

/** How long a load lasts, and its rate. */
export interface Load {
  readonly seconds: number;
  /** Units (requests, messages or handshakes) per second; as fast as possible if omitted. */
  readonly rate?: number;
}

/** The units of a load: how many were completed, and the latency of each in milliseconds, in any order. */
export interface Completed {
  readonly count: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Sends a load. Throws if a unit fails. `folder` is for files of the client. */
export type Client = (target: Target, load: Load, folder: string) => Promise<Completed>;

/** One round of a load. */
export interface Sample extends Completed {
  /** Microseconds of processor time per unit, user and system, of all threads of the proxy. */
  readonly cpu: number;
  /** Processor time of the proxy per second of the round: 1 is one core. */
  readonly cores: number;
  /** Milliseconds per second of the round in which the main thread of the proxy was ready to run, but other processes had the cores. */
  readonly waited: number;
  /** Resident memory of the proxy after the round in MiB. */
  readonly memory: number;
}

/** Throws if the client fails, or completes nothing. */
export async function measure(client: Client, target: Target, load: Load, folder: string): Promise<Sample> {
  const { server } = target;
  const [began, before, waitedBefore] = [performance.now(), server.cpu(), server.waited()];
  const completed = await client(target, load, folder);
  const [used, waited, took] = [server.cpu() - before, server.waited() - waitedBefore, performance.now() - began];
  if (completed.count === 0) throw new Error(`${target.name} completes nothing`);
  return {
    ...completed,
    cpu: used / completed.count,
    cores: used / 1000 / took,
    waited: (waited / took) * 1000,
    memory: server.memory(),
  };
}

/** @param latencies in milliseconds, in any order */
export function completedOf(latencies: readonly number[] | Float64Array, seconds: number): Completed {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
  return { count: sorted.length, rate: sorted.length / seconds, p50: at(0.5), p99: at(0.99), max: at(1) };
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
