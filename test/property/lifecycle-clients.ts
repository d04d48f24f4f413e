import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { frame, literal, openFrames } from '../support/http2.ts';
import { openRaw } from '../support/proxy.ts';

/** Where the listeners of the proxy under test are. */
export interface Ports {
  readonly plain: number;
  readonly secure: { readonly port: number; readonly address: string };
}

export const clientKinds = ['http1', 'https1', 'http2'] as const;
export type ClientKind = (typeof clientKinds)[number];

export const clientOperations = [
  'half a head',
  'request',
  'upload',
  'expectation',
  'upgrade',
  'part of a body',
  'more than anybody holds',
  'pipelined requests',
  'cancel',
  'stall',
  'resume',
  'end',
  'reset',
  'close',
] as const;
export type ClientOperation = (typeof clientOperations)[number];

const filling: ReadonlySet<ClientOperation | 'room'> = new Set([
  'part of a body',
  'more than anybody holds',
  'pipelined requests',
]);

const large = Buffer.alloc(16_000_000);
const part = Buffer.alloc(10_000);
const frameBytes = 16_384;
const endStream = 1;
const endHeaders = 4;

/** What a client writes for an operation, in one version of HTTP. */
type Words = Partial<Record<ClientOperation | 'room', (path: string) => Buffer | string>>;

const http1: Words = {
  'half a head': (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n`,
  request: (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
  upload: (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\nbegin`,
  expectation: (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\nExpect: 100-continue\r\n\r\n`,
  upgrade: (path) =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  'part of a body': () => part,
  'more than anybody holds': () => large,
  'pipelined requests': (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(8_000)}\r\n\r\n`.repeat(6),
};

/** Requests on one HTTP/2 connection have the odd numbers in their order. */
function http2(): Words {
  let stream = -1;
  const head = (method: string, path: string, flags: number, ...fields: [string, string][]): Buffer => {
    stream += 2;
    return frame(
      'headers',
      flags | endHeaders,
      stream,
      literal([':method', method], [':scheme', 'http'], [':path', path], [':authority', 'a'], ...fields),
    );
  };
  const data = (bytes: number): Buffer => frame('data', 0, Math.max(stream, 1), Buffer.alloc(bytes));
  return {
    'half a head': (path) => head('GET', path, 0).subarray(0, 20),
    request: (path) => head('GET', path, endStream),
    upload: (path) => head('POST', path, 0),
    expectation: (path) => head('POST', path, 0, ['expect', '100-continue']),
    upgrade: (path) => head('CONNECT', path, 0, [':protocol', 'websocket'], ['sec-websocket-version', '13']),
    'part of a body': () => data(1_000),
    // As much as the window of a stream allows.
    'more than anybody holds': () => Buffer.concat(Array.from({ length: 3 }, () => data(frameBytes))),
    'pipelined requests': (path) => Buffer.concat([head('GET', path, endStream), head('GET', path, endStream)]),
    cancel: () => frame('reset', 0, Math.max(stream, 1), Buffer.from([0, 0, 0, 8])),
    room: () =>
      Buffer.concat(
        Array.from({ length: (stream + 3) / 2 }, (_, number) =>
          frame('windowUpdate', 0, Math.max(0, 2 * number - 1), Buffer.from([0x3f, 0, 0, 0])),
        ),
      ),
  };
}

/** A client on a connection of its own that does as it is told. */
export class LifecycleClient {
  private readonly socket: Socket;
  /** Carries TLS, where there is any. */
  private readonly below: Socket;
  private readonly words: Words;
  /** Whether bytes may wait behind which nobody can see an orderly end. */
  private isFull = false;
  /** What follows such a request nobody reads before the response. */
  private hasUpgraded = false;

  /** What is done to the connection; everything else is said on it. */
  private readonly actions: Partial<Record<ClientOperation, () => void>> = {
    stall: () => void this.socket.pause(),
    resume: () => void this.socket.resume(),
    end: () => {
      if (!this.isFull) this.socket.end();
    },
    close: () => this.leave('close'),
    reset: () => this.leave('reset'),
  };

  constructor(kind: ClientKind, ports: Ports) {
    this.words = kind === 'http2' ? http2() : http1;
    const { port, address } = ports.secure;
    this.below =
      kind === 'http2'
        ? openFrames(ports.plain).socket
        : kind === 'http1'
          ? openRaw(ports.plain)
          : openRaw(port, address);
    this.socket =
      kind === 'https1'
        ? connectTls({
            socket: this.below,
            rejectUnauthorized: false,
            servername: 'inner.example',
            ALPNProtocols: ['http/1.1'],
          })
        : this.below;
    this.socket.on('error', () => undefined).on('data', () => undefined);
  }

  do(operation: ClientOperation, path: string): void {
    if (this.socket.destroyed) return;
    const act = this.actions[operation];
    if (act === undefined) this.write(operation, path);
    else act();
  }

  /** Takes everything that comes from now on. */
  takeAll(): void {
    this.socket.resume();
    this.write('room', '');
  }

  /** A client whose bytes may not all have been read can only be seen to leave by a reset. */
  leave(way: 'reset' | 'close'): void {
    if (way === 'reset' || this.isFull) this.below.resetAndDestroy();
    this.socket.destroy();
    this.below.destroy();
  }

  private write(operation: ClientOperation | 'room', path: string): void {
    const words = this.words[operation]?.(path);
    if (words === undefined || !this.socket.writable) return;
    this.isFull ||= this.hasUpgraded || filling.has(operation);
    this.hasUpgraded ||= operation === 'upgrade';
    this.socket.write(words);
  }
}
