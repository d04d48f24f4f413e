import type { Socket } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { createWriteRequest, lastWriteWaits, writableHandle } from './direct.ts';
import type { TcpHandle, WriteRequest } from './direct.ts';
import { owned } from '../limits/read-buffer.ts';

/** Bytes that wait at which the sender pauses, as in Node. */
const full = 64 * 1024;

/** Up to this number of bytes, text costs less than a block. */
const longestText = 4 * 1024;

/** Sizes of the blocks that pieces are copied to. No block is twice as large as its piece. */
const [minBits, maxBits] = [12, 17];
const blocksPerSize = 8;
const blocks: Buffer[][] = Array.from({ length: maxBits - minBits + 1 }, () => []);

/** A request whose last write was done at once. */
let spare: WriteRequest | undefined;

/**
 * The output of an established connection. Usually the kernel takes a message at once, so it is written without the stream of
 * the socket. Text is Latin-1. Bytes may be used again after they were passed.
 */
export class Output {
  private readonly socket: Socket;
  private readonly handle: TcpHandle | undefined;
  private readonly drained: () => void;
  /** Bytes that were written without the stream, and wait. */
  private pending = 0;
  /** Whether others write to the stream, so that its bytes may wait. */
  private isShared = false;
  private done: (() => void) | undefined;

  /** `drained` is called when nothing waits any more. */
  constructor(socket: Socket, drained: () => void) {
    this.socket = socket;
    this.drained = drained;
    this.handle = writableHandle(socket);
    socket.setDefaultEncoding('latin1').on('drain', drained);
  }

  /** Bytes that the kernel has not taken yet. */
  get waiting(): number {
    return this.pending + (this.usesStream ? this.socket.writableLength : 0);
  }

  /** Whether the sender should pause until `drained`. */
  get isFull(): boolean {
    return this.pending >= full || (this.usesStream && this.socket.writableNeedDrain);
  }

  /** From now on, others may write to the stream of the socket, too. */
  share(): void {
    this.isShared = true;
  }

  /** Whether the next bytes must be written to the stream. */
  private get usesStream(): boolean {
    if (this.handle === undefined) return true;
    if (this.isShared && this.socket.writableLength === 0) this.isShared = false;
    return this.isShared;
  }

  /** Writes text. Ignored after the end of the connection. */
  write(text: string): void {
    const { socket, handle } = this;
    if (!socket.writable) return;
    if (handle === undefined || this.usesStream) {
      socket.write(text);
      return;
    }
    const request = (spare ??= createWriteRequest());
    this.begun(handle.writeLatin1String(request, text), request, text.length);
  }

  /** Writes bytes. */
  writeBytes(bytes: Buffer): void {
    const { socket } = this;
    if (this.usesStream) {
      if (socket.writable) socket.write(owned(bytes));
    } else if (bytes.length <= longestText) this.write(bytes.toString('latin1', 0, bytes.length));
    else this.writeAround('', bytes, '');
  }

  /** Writes bytes between two texts in one piece. */
  writeAround(before: string, bytes: Buffer, after: string): void {
    const { socket, handle } = this;
    if (!socket.writable) return;
    const length = before.length + bytes.length + after.length;
    if (handle === undefined || this.usesStream || length > 1 << maxBits) {
      socket.cork();
      if (before !== '') socket.write(before);
      socket.write(owned(bytes));
      if (after !== '') socket.write(after);
      socket.uncork();
      this.share();
      return;
    }
    const block = takeBlock(length);
    block.write(before, 0, 'latin1');
    bytes.copy(block, before.length);
    if (after !== '') block.write(after, length - after.length, 'latin1');
    const request = (spare ??= createWriteRequest());
    const error = handle.writeBuffer(request, block.subarray(0, length));
    request.block = block;
    this.begun(error, request, length);
  }

  /** Writes text, and then calls `done` unless the connection fails: at once if nothing waits. Called once per connection at a time. */
  writeLast(text: string, done: () => void): void {
    const { socket } = this;
    if (!socket.writable) return;
    if (this.handle === undefined && text !== '') {
      socket.write(text, (error) => (error === undefined || error === null ? done() : undefined));
      return;
    }
    if (text !== '') this.write(text);
    if (socket.destroyed) return;
    if (this.waiting === 0) done();
    else if (this.pending > 0) this.done = done;
    else socket.write(nothing, (error) => (error === undefined || error === null ? done() : undefined));
  }

  /** Notes the result of a write. */
  private begun(error: number, request: WriteRequest, length: number): void {
    if (error === 0 && lastWriteWaits()) {
      spare = undefined;
      this.pending += length;
      request.completed = (status) => {
        releaseBlock(request);
        this.completed(status, length);
      };
      return;
    }
    releaseBlock(request);
    if (error !== 0) this.failed(error);
  }

  private completed(status: number, length: number): void {
    this.pending -= length;
    if (status !== 0) {
      this.failed(status);
      return;
    }
    if (this.pending > 0) return;
    const { done } = this;
    this.done = undefined;
    done?.();
    this.drained();
  }

  private failed(status: number): void {
    if (this.socket.destroyed) return;
    const code = getSystemErrorName(status);
    this.socket.destroy(Object.assign(new Error(`write ${code}`), { code }));
  }
}

const nothing = Buffer.alloc(0);

function takeBlock(length: number): Buffer {
  const bits = Math.max(minBits, 32 - Math.clz32(length - 1));
  return blocks[bits - minBits]?.pop() ?? Buffer.allocUnsafeSlow(1 << bits);
}

function releaseBlock(request: WriteRequest): void {
  const { block } = request;
  if (block === undefined) return;
  request.block = undefined;
  const pool = blocks[31 - Math.clz32(block.length) - minBits];
  if (pool !== undefined && pool.length < blocksPerSize) pool.push(block);
}
