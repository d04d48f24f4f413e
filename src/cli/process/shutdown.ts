type Step = () => void | Promise<void>;

/** What has to be closed at the end, in the opposite order of opening. */
export class Shutdown {
  private readonly steps: Step[] = [];
  private readonly lastSteps: Step[] = [];
  private stopped: Promise<void> | undefined;

  /** Adds a step that comes before all earlier ones. */
  add(step: Step): void {
    this.steps.unshift(step);
  }

  /** Adds a step that comes after all others. */
  last(step: Step): void {
    this.lastSteps.push(step);
  }

  get stopping(): boolean {
    return this.stopped !== undefined;
  }

  /** Takes all steps, one after the other; a second call waits for the first one. */
  stop(): Promise<void> {
    this.stopped ??= this.takeAll();
    return this.stopped;
  }

  private async takeAll(): Promise<void> {
    for (const step of [...this.steps, ...this.lastSteps]) await step();
  }
}

/** Starts something that adds what it opens to a Shutdown. Where starting fails, what was opened by then is closed, and it fails with that error. */
export async function startOrStop(start: (running: Shutdown) => Promise<void>): Promise<{ stop(): Promise<void> }> {
  const running = new Shutdown();
  try {
    await start(running);
    return running;
  } catch (error) {
    await running.stop();
    throw error;
  }
}
