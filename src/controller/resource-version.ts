/** Versions of a resource are numbers that grow (Kubernetes API concepts, resource versions). */
export function isNewer(version: string, than: string): boolean {
  return version.length === than.length ? version > than : version.length > than.length;
}
