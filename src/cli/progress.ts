/** Tells a person who waits how far a long run has come. */
export interface Progress {
  /** One more is done. */
  step(): void;
  /** Takes what was shown away, since something else is to be written or the run is over. */
  clear(): void;
}

/** Milliseconds between two updates, and before the first: short runs show nothing. */
const interval = 300;

/** Counts on a terminal, by a line that is written over; nothing is written anywhere else. `now` is a clock in milliseconds. */
export function createProgress(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>, what: string, now: () => number = Date.now): Progress {
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
