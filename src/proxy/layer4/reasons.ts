/** The transport of a layer 4 listener, as in logs and metrics. */
export const transports = ['tcp', 'tls', 'udp'] as const;
export type Transport = (typeof transports)[number];

/**
 * The reason why a connection or flow did not end in order; the fixed label set of logs and metrics.
 *
 * - `no-route` … `internal-address` and `connect-failed`: no backend got a byte.
 * - `loop-detected`: the route leads back to the data plane.
 * - `client-reset` and `backend-reset`: that side reset the connection.
 * - `idle`: neither side sent anything before the timeout.
 * - `overloaded`: one side reads too slowly, and the buffer is full.
 * - `evicted`: closed to make room for another flow.
 * - `cut`: the listener or the data plane ended.
 * - `trace`: the data plane answered a trace, or dropped the copy of one.
 */
export const layer4Reasons = [
  'no-route',
  'rule-failure',
  'no-backend',
  'invalid-backend',
  'no-endpoints',
  'name-unresolved',
  'internal-address',
  'connect-failed',
  'loop-detected',
  'client-reset',
  'backend-reset',
  'idle',
  'overloaded',
  'evicted',
  'cut',
  'trace',
] as const;
export type Layer4Reason = (typeof layer4Reasons)[number];
