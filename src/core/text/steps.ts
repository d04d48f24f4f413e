/** Work divided into steps, so that its runner can do other work in between. */
export type Steps<T> = Generator<undefined, T>;

/** Runs all steps without a pause. */
export function runToEnd<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Shares steps among all callers: they run once, and later callers get the result. Two callers must not run them concurrently. */
export function onceInSteps<T>(begin: () => Steps<T>): () => Steps<T> {
  const once = new Once(begin);
  return () => once.take();
}

/**
 * A class, because V8 keeps a hidden class for each generator function object outside the young generation. A generator function
 * created for each use would retain everything that it refers to until a full collection of garbage.
 */
class Once<T> {
  private readonly begin: () => Steps<T>;
  private made: { readonly value: T } | undefined;

  constructor(begin: () => Steps<T>) {
    this.begin = begin;
  }

  *take(): Steps<T> {
    this.made ??= { value: yield* this.begin() };
    return this.made.value;
  }
}
