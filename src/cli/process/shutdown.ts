type Step = () => void | Promise<void>;

/** The steps of a shutdown, in the reverse order of opening. */
export class Shutdown {
  private readonly steps: Step[] = [];
  private readonly lastSteps: Step[] = [];
  private stopped: Promise<void> | undefined;

  /** Adds a step that runs before all earlier ones. */
  add(step: Step): void {
    this.steps.unshift(step);
  }

  /** Adds a step that runs after all others. */
  last(step: Step): void {
    this.lastSteps.push(step);
  }

  get stopping(): boolean {
    return this.stopped !== undefined;
  }

  /** Runs all steps, one after the other. A second call waits for the first one. */
  stop(): Promise<void> {
    this.stopped ??= this.takeAll();
    return this.stopped;
  }

  private async takeAll(): Promise<void> {
    for (const step of [...this.steps, ...this.lastSteps]) await step();
  }
}

/** Starts something that registers all it opens with a Shutdown. If the start fails, closes all of that and rejects with the error. */
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
