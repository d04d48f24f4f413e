/** Runs an action of OpenSSL. Its messages name no field and vary between versions, so it is enough to know that it failed. */
export function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
