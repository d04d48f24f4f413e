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
  let made: { readonly value: T } | undefined;
  return function* take() {
    made ??= { value: yield* begin() };
    return made.value;
  };
}
