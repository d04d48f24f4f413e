/** Work that stops between its steps, so that whoever runs it may let others have their turn. */
export type Steps<T> = Generator<undefined, T>;

/** Runs all steps at once. */
export function runToEnd<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The same steps for all who ask: they are taken once, and whoever comes later gets the result. Two must not take them side by side. */
export function onceInSteps<T>(begin: () => Steps<T>): () => Steps<T> {
  let made: { readonly value: T } | undefined;
  return function* take() {
    made ??= { value: yield* begin() };
    return made.value;
  };
}
