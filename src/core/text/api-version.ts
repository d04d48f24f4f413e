/** The parts of an apiVersion: `gateway.networking.k8s.io/v1`, or `v1` for the core group, which is `''`. */
export interface ApiVersion {
  readonly group: string;
  readonly version: string;
}

/** Splits an apiVersion at its first slash. */
export function splitApiVersion(apiVersion: string): ApiVersion {
  const slash = apiVersion.indexOf('/');
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}

/** The group of an apiVersion: `gateway.networking.k8s.io/v1` → `gateway.networking.k8s.io`, `v1` → `''`. */
export function groupOf(apiVersion: string): string {
  return splitApiVersion(apiVersion).group;
}
