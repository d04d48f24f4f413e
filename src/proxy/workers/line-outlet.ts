/** Characters of lines that may wait for the main thread. */
const maxUnwritten = 1024 * 1024;
/** Characters after which lines do not wait for the end of the turn. */
const full = 64 * 1024;
/** Milliseconds after which a worker looks again. */
const patience = 1_000;

/**
 * Sends the log lines of a worker to the main thread, which writes them: those of one turn of the event loop together. If the main
 * thread is behind, the worker waits for it. So the lines that wait are limited.
 */
export class LineOutlet {
  private readonly worker: number;
  private readonly unwritten: Int32Array;
  private readonly send: (text: string) => void;
  private text = '';

  /** `send` gets whole lines. `unwritten` is the memory that `written` updates. */
  constructor(worker: number, unwritten: SharedArrayBuffer, send: (text: string) => void) {
    this.worker = worker;
    this.unwritten = new Int32Array(unwritten);
    this.send = send;
  }

  /** Sends one line, which ends with a line feed. */
  write(line: string): void {
    if (this.text === '') setImmediate(() => this.flush());
    this.text += line;
    if (this.text.length > full) this.flush();
  }

  /** Sends the lines of this turn now, because the thread may end after it. */
  flush(): void {
    const text = this.text;
    if (text === '') return;
    this.text = '';
    this.send(text);
    let waiting = Atomics.add(this.unwritten, this.worker, text.length) + text.length;
    while (waiting > maxUnwritten) {
      Atomics.wait(this.unwritten, this.worker, waiting, patience);
      waiting = Atomics.load(this.unwritten, this.worker);
    }
  }
}

/** The main thread has written lines of a worker. */
export function written(unwritten: SharedArrayBuffer, worker: number, text: string): void {
  const counts = new Int32Array(unwritten);
  Atomics.sub(counts, worker, text.length);
  Atomics.notify(counts, worker);
}
