import { monotonicNow } from '../time/clock.ts';

/** Rounds that others can start in a second. More of them mean that another writer reverts each, or changes something all the time. */
const mostWoken = 10;
const second = 1_000;

/** Work that runs in rounds. Each round decides anew from the stored state. */
export interface Rounds {
  /** Starts a round now, or right after the current one; later if ten have begun within a second. */
  readonly wake: () => void;
  /** Prevents further rounds. Resolves when the current one has ended. */
  readonly stop: () => Promise<void>;
}

/** Durations, in milliseconds. */
export interface RoundsOptions {
  /** Maximum delay: timers stand still while a machine sleeps, and notifications get lost. */
  readonly longest: number;
  /** Delay after the first failure. It doubles with each further failure, up to `longest`. */
  readonly retry: number;
  readonly onError: (error: unknown) => void;
  /** Further triggers of a round. Each subscribes a listener and returns how to unsubscribe it. */
  readonly wakeOn?: readonly ((listener: () => void) => () => void)[];
}

/** Runs rounds, one at a time. Each returns the milliseconds until the next one. */
export function startRounds(
  round: () => Promise<number>,
  { longest, retry, onError, wakeOn = [] }: RoundsOptions,
): Rounds {
  let state: 'running' | 'woken' | 'resting' | 'stopped' = 'resting';
  let timer: NodeJS.Timeout | undefined;
  let present: Promise<void> = Promise.resolve();
  let failures = 0;
  /** When the last rounds began. */
  const begun: number[] = [];

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
    begun.push(monotonicNow());
    if (begun.length > mostWoken) begun.shift();
    present = attempt().then(rest);
  };
  const rest = (due: number): void => {
    if (state === 'woken') beginWoken();
    else if (state === 'running') restFor(Math.min(due, longest));
  };
  const restFor = (pause: number): void => {
    clearTimeout(timer);
    state = 'resting';
    timer = setTimeout(begin, Math.max(0, pause));
  };
  const beginWoken = (): void => {
    const [first = 0] = begun;
    const pause = begun.length < mostWoken ? 0 : first + second - monotonicNow();
    if (pause > 0) restFor(pause);
    else begin();
  };
  const wake = (): void => {
    if (state === 'resting') beginWoken();
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
