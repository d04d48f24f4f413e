/**
 * The error responses that a routing decision itself leads to: status and text for the client. The text states the problem and
 * never reveals addresses, objects or other internals.
 */
export const refusals = {
  'no-listener': { status: 404, text: 'No listener on this port serves this host.' },
  'no-route': { status: 404, text: 'No route matches this request.' },
  misdirected: { status: 421, text: 'This connection was opened for another host; open a new one.' },
  'rule-failure': { status: 500, text: 'The matching route is misconfigured; its status conditions say how.' },
  'invalid-backend': { status: 500, text: 'The matching route refers to a backend that cannot be used.' },
  'no-backend': { status: 500, text: 'The matching route has no backend with a weight above zero.' },
  'authorization-invalid': {
    status: 500,
    text: 'The matching route refers to an authorization server that cannot be used.',
  },
  'trace-unsupported': { status: 501, text: 'TRACE is not supported here.' },
  'no-endpoints': { status: 503, text: 'The backend has no ready endpoints.' },
  'authorization-unavailable': { status: 503, text: 'The authorization server could not be reached.' },
  'loop-detected': { status: 508, text: 'The request passed this proxy too often: its route leads back to the proxy.' },
} as const satisfies Record<string, { readonly status: number; readonly text: string }>;

/** Why a routing decision leads to an error response. */
export type Refusal = keyof typeof refusals;
