/** Work that stops between its steps, so that whoever runs it may let others have their turn. */
export type Steps<T> = Generator<undefined, T>;

/** Runs all steps at once. */
export function runToEnd<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
