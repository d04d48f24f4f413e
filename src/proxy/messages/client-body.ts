import { Readable } from 'node:stream';

/** The body of a client's request. It is pushed by its connection, which reads on when the body is wanted. */
export class ClientBody extends Readable {
  private readonly wanted: () => void;

  /** `wanted` is called when there is room for more. */
  constructor(wanted: () => void) {
    super({ autoDestroy: false, emitClose: false });
    this.wanted = wanted;
  }

  override _read(): void {
    this.wanted();
  }
}
