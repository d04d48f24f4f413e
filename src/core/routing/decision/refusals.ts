/**
 * The error responses that a routing decision itself leads to: status and text for the client. The text states the problem and
 * never reveals addresses, objects or other internals.
 */
export const refusals = {
  'no-listener': { status: 404, text: 'No listener on this port serves this host.' },
  'no-route': { status: 404, text: 'No route matches this request.' },
  misdirected: { status: 421, text: 'The connection was opened for another host; open a new one.' },
  'listener-failure': {
    status: 500,
    text: 'The listener is invalid; see the conditions in the status of its Gateway.',
  },
  'rule-failure': { status: 500, text: 'The matching route is invalid; see the conditions in its status.' },
  'match-too-costly': {
    status: 500,
    text: 'The routes have too many matches or too costly regular expressions for this request; shorten its path, query or header fields.',
  },
  'invalid-backend': { status: 500, text: 'The matching route refers to an invalid backend.' },
  'no-backend': { status: 500, text: 'The matching route has no backend with a weight above zero.' },
  'authorization-invalid': {
    status: 500,
    text: 'The authorization server of this request is invalid.',
  },
  'trace-unsupported': { status: 501, text: 'TRACE is not supported.' },
  'no-endpoints': { status: 503, text: 'The backend has no ready endpoints.' },
  'name-unresolved': { status: 503, text: 'The name of the backend has no address.' },
  'internal-address': { status: 503, text: 'The address of the backend is not permitted.' },
  'authorization-unavailable': { status: 503, text: 'The connection to the authorization server failed.' },
  'loop-detected': { status: 508, text: 'The request passed the proxy too often: its route leads back to the proxy.' },
} as const satisfies Record<string, { readonly status: number; readonly text: string }>;

/** Why a routing decision leads to an error response. */
export type Refusal = keyof typeof refusals;
