/** Tells a person who waits how far a long run has come. */
export interface Progress {
  /** One more is done. */
  step(): void;
  /** Takes what was shown away, since something else is to be written or the run is over. */
  clear(): void;
}

/** Milliseconds between two updates, and before the first: short runs show nothing. */
const interval = 300;

/** Counts on a terminal, by a line that is written over; nothing is written anywhere else. */
export function createProgress(stream: NodeJS.WriteStream, what: string): Progress {
  if (!stream.isTTY) return { step() {}, clear() {} };
  let count = 0;
  let last = Date.now();
  let isShown = false;
  return {
    step() {
      count += 1;
      const now = Date.now();
      if (now - last < interval) return;
      last = now;
      isShown = true;
      stream.write(`\r${count} ${what} …`);
    },
    clear() {
      if (isShown) stream.write('\r\u001b[K');
      isShown = false;
    },
  };
}
