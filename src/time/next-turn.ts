/** An action that runs once in the next turn of the event loop, however often it is requested before. */
export class NextTurn {
  private readonly action: () => void;
  private requested = false;

  constructor(action: () => void) {
    this.action = action;
  }

  /** Whether the action will run. */
  get isRequested(): boolean {
    return this.requested;
  }

  request(): void {
    if (this.requested) return;
    this.requested = true;
    setImmediate(this.run);
  }

  /** Like `request`, but the action runs after a pause in milliseconds. Requests during the pause do not shorten it. */
  requestAfter(pause: number): void {
    if (this.requested) return;
    this.requested = true;
    setTimeout(this.run, pause);
  }

  private readonly run = (): void => {
    this.requested = false;
    this.action();
  };
}
