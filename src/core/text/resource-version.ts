/** Compares resource versions, which are increasing numbers (Kubernetes API concepts, resource versions). */
export function isNewer(version: string, than: string): boolean {
  return version.length === than.length ? version > than : version.length > than.length;
}
