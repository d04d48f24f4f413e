/** The transport of a listener of layer 4, as it is written in logs and metrics. */
export const transports = ['tcp', 'tls', 'udp'] as const;
export type Transport = (typeof transports)[number];

/**
 * Why a connection or flow did not end in order; the fixed label set of logs and metrics.
 *
 * `no-route` … `no-endpoints` and `connect-failed`: no backend got a byte. `loop-detected`: the route leads back to the data
 * plane. `client-reset` and `backend-reset`: that side broke the connection off. `idle`: neither side sent anything for too long.
 * `overloaded`: one side does not take what waits for it, and there is no room to keep it. `evicted`: another flow needed the room.
 * `cut`: the listener or the data plane ended.
 */
export const layer4Reasons = [
  'no-route', 'rule-failure', 'no-backend', 'invalid-backend', 'no-endpoints', 'connect-failed', 'loop-detected',
  'client-reset', 'backend-reset', 'idle', 'overloaded', 'evicted', 'cut',
] as const;
export type Layer4Reason = (typeof layer4Reasons)[number];
