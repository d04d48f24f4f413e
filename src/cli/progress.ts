import { wallNow } from '../time/clock.ts';

/** Shows the progress of a long run. */
export interface Progress {
  /** Counts one more item. */
  step(): void;
  /** Clears the display, before other output or at the end. */
  clear(): void;
}

/** Milliseconds between two updates, and before the first one: short runs show nothing. */
const interval = 300;

/** Shows a counter in one line of a terminal. Writes nothing if the stream is not a terminal. `now` is a clock in milliseconds. */
export function createProgress(
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>,
  what: string,
  now: () => number = wallNow,
): Progress {
  if (!stream.isTTY) return { step() {}, clear() {} };
  let count = 0;
  let last = now();
  let isShown = false;
  return {
    step() {
      count += 1;
      const time = now();
      if (time - last < interval) return;
      last = time;
      isShown = true;
      stream.write(`\r${count} ${what} …`);
    },
    clear() {
      if (isShown) stream.write('\r\u001b[K');
      isShown = false;
    },
  };
}
