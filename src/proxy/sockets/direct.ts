import { Socket } from 'node:net';
import process from 'node:process';
import { TLSSocket } from 'node:tls';

/**
 * The only access to parts of Node's TCP sockets that are not documented: their handles. Reading and writing through the streams
 * of a socket takes a quarter of the processor time of a small request. If a release of Node changes these parts,
 * connections use the streams: `directAccess` tells which of both, and a test fails.
 */

/** A write that the kernel did not take at once. */
export interface WriteRequest {
  oncomplete: (this: WriteRequest, status: number) => void;
  /** The bytes, which must not change until the write is complete. */
  block: Buffer | undefined;
  completed: ((status: number) => void) | undefined;
}

/** The handle of a TCP socket. The functions return 0 or a negative error number, and copy nothing but text that waits. */
export interface TcpHandle {
  writeLatin1String(request: WriteRequest, text: string): number;
  writeBuffer(request: WriteRequest, bytes: Uint8Array): number;
  useUserBuffer(buffer: Uint8Array): void;
}

interface StreamBinding {
  readonly WriteWrap: new () => WriteRequest;
  readonly streamBaseState: Int32Array;
  readonly kLastWriteWasAsync: number;
}

/** The properties in which a socket keeps its option `onread`. */
interface ReadKeys {
  readonly buffer: symbol;
  readonly callback: symbol;
}

const binding = streamBinding();
const readKeys = findReadKeys();

/** Which parts of Node are used directly. */
export const directAccess: { readonly reads: boolean; readonly writes: boolean } = {
  reads: readKeys !== undefined,
  writes: binding !== undefined,
};

/** Returns the handle for writes to a socket, or `undefined` if it must be written through its stream. */
export function writableHandle(socket: Socket): TcpHandle | undefined {
  // TLS allows only one write at a time.
  if (binding === undefined || socket instanceof TLSSocket) return undefined;
  const handle = handleOf(socket);
  return handle?.constructor.name === 'TCP' && 'writeLatin1String' in handle && 'writeBuffer' in handle
    ? handle
    : undefined;
}

/** Creates a request for one write at a time. It can be used again unless the write waits. */
export function createWriteRequest(): WriteRequest {
  if (binding === undefined) throw new Error('Sockets cannot be written directly.');
  const request = new binding.WriteWrap();
  request.block = undefined;
  request.completed = undefined;
  request.oncomplete = complete;
  return request;
}

/** Whether the last write is not complete: its request is called back. */
export function lastWriteWaits(): boolean {
  return binding !== undefined && binding.streamBaseState[binding.kLastWriteWasAsync] !== 0;
}

function complete(this: WriteRequest, status: number): void {
  const { completed } = this;
  this.completed = undefined;
  completed?.(status);
}

/**
 * Reads an established socket into a buffer, like the option `onread` of Node: `received` gets the length of each piece, and
 * the stream of the socket gets none. `pause`, `resume` and the event `end` keep their meaning. A second call replaces
 * `received`; if it returns `false`, the socket pauses. Returns `false` if the socket must be read through its stream.
 */
export function readInto(socket: Socket, buffer: Buffer, received: (length: number) => boolean | void): boolean {
  const handle = handleOf(socket);
  if (readKeys === undefined || handle === undefined || !('useUserBuffer' in handle)) return false;
  const properties = socket as unknown as Record<symbol, unknown>;
  properties[readKeys.callback] = received;
  if (properties[readKeys.buffer] === buffer) return true;
  properties[readKeys.buffer] = buffer;
  handle.useUserBuffer(buffer);
  return true;
}

function handleOf(socket: Socket): TcpHandle | undefined {
  const { _handle: handle } = socket as unknown as { readonly _handle?: TcpHandle | null };
  return handle ?? undefined;
}

function streamBinding(): StreamBinding | undefined {
  try {
    const { binding: load } = process as unknown as { readonly binding: (name: string) => Partial<StreamBinding> };
    const { WriteWrap, streamBaseState, kLastWriteWasAsync } = load.call(process, 'stream_wrap');
    const isKnown =
      typeof WriteWrap === 'function' && ArrayBuffer.isView(streamBaseState) && typeof kLastWriteWasAsync === 'number';
    return isKnown ? { WriteWrap, streamBaseState, kLastWriteWasAsync } : undefined;
  } catch {
    return undefined;
  }
}

function findReadKeys(): ReadKeys | undefined {
  const keys = Object.getOwnPropertySymbols(new Socket());
  const keyOf = (name: string): symbol | undefined => keys.find(({ description }) => description === name);
  const [buffer, callback] = [keyOf('kBuffer'), keyOf('kBufferCb')];
  return buffer === undefined || callback === undefined ? undefined : { buffer, callback };
}
