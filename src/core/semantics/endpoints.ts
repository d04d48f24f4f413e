/** Returns whether an endpoint with these conditions is ready. If the condition is unknown, it is (EndpointConditions.ready). */
export function isReadyEndpoint({ ready }: { readonly ready?: unknown }): boolean {
  return ready !== false;
}
