/** Work that is decided anew from what is stored, again and again. */
export interface Rounds {
  /** Starts a round now, or right after the present one. */
  readonly wake: () => void;
  /** No further round begins. Resolves when the present one is over. */
  readonly stop: () => Promise<void>;
}

/** Durations, in milliseconds. */
export interface RoundsOptions {
  /** Never wait longer: timers stand still while a machine sleeps, and notifications get lost. */
  readonly longest: number;
  /** How long to wait after the first failure; doubled with each further one, up to `longest`. */
  readonly retry: number;
  readonly onError: (error: unknown) => void;
  /** What starts a round too. Each subscribes a listener and returns how to stop that. */
  readonly wakeOn?: readonly ((listener: () => void) => () => void)[];
}

/** Starts rounds, one at a time. Each says after how many milliseconds the next one is due. */
export function startRounds(round: () => Promise<number>, { longest, retry, onError, wakeOn = [] }: RoundsOptions): Rounds {
  let state: 'running' | 'woken' | 'resting' | 'stopped' = 'resting';
  let timer: NodeJS.Timeout | undefined;
  let present: Promise<void> = Promise.resolve();
  let failures = 0;

  const attempt = async (): Promise<number> => {
    try {
      const due = await round();
      failures = 0;
      return due;
    } catch (error) {
      onError(error);
      return retry * 2 ** Math.min(failures++, 16);
    }
  };
  const begin = (): void => {
    clearTimeout(timer);
    state = 'running';
    present = attempt().then(rest);
  };
  const rest = (due: number): void => {
    if (state === 'woken') begin();
    else if (state === 'running') {
      state = 'resting';
      timer = setTimeout(begin, Math.max(0, Math.min(due, longest)));
    }
  };
  const wake = (): void => {
    if (state === 'resting') begin();
    else if (state === 'running') state = 'woken';
  };

  const unsubscribe = wakeOn.map((subscribe) => subscribe(wake));
  begin();
  return {
    wake,
    async stop() {
      state = 'stopped';
      clearTimeout(timer);
      for (const stop of unsubscribe) stop();
      await present;
    },
  };
}
