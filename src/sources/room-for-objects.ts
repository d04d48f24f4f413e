import { getHeapStatistics } from 'node:v8';

/** Bytes that an object takes besides its text. */
const perObject = 1_024;

/** What was listed, such as a page of a list. */
export interface Listed {
  readonly objects: readonly unknown[];
  readonly characters: number;
}

/**
 * The memory for the objects that a command has listed, which it holds until it ends. An API server may send lists without an end, or more
 * objects than the process has room for. The objects may take half of its heap, because their evaluation takes memory, too.
 */
export class RoomForObjects {
  private readonly bytes: number;
  private used = 0;

  constructor(bytes = getHeapStatistics().heap_size_limit / 2) {
    this.bytes = bytes;
  }

  /** @throws with a message for people if there is no room */
  take(listed: Listed): void {
    this.used += bytesOf(listed);
    if (this.used <= this.bytes) return;
    const mebibytes = Math.floor(this.bytes / 2 ** 20);
    throw new Error(
      `the cluster has more objects than this process has room for (${mebibytes} MiB); give it more memory, for example with NODE_OPTIONS=--max-old-space-size=16384`,
    );
  }

  /** Call this for objects that are discarded. */
  release(listed: Listed): void {
    this.used -= bytesOf(listed);
  }
}

function bytesOf({ objects, characters }: Listed): number {
  return characters + perObject * objects.length;
}
