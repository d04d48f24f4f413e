import { STATUS_CODES } from 'node:http';
import { refusals } from '../../core/routing/decision/refusals.ts';
import { wallNow } from '../../time/clock.ts';

/** The proxy's own responses. The text is for the client: it states the problem and never reveals addresses, objects or other internals. */
const answers = {
  ...refusals,
  'bad-request': { status: 400, text: 'The request is malformed.' },
  'bad-host': { status: 400, text: 'The request needs exactly one valid Host.' },
  'bad-target': { status: 400, text: 'The request target is malformed.' },
  'bad-framing': { status: 400, text: 'The length of the request body is ambiguous.' },
  'plain-http': { status: 400, text: 'The port serves HTTPS; the request is plain HTTP.' },
  'header-timeout': { status: 408, text: 'The request header was not received in time.' },
  'body-timeout': { status: 408, text: 'The request body was not received in time.' },
  'body-too-large': { status: 413, text: 'The request body exceeds the limit of the authorization server.' },
  'target-too-long': { status: 414, text: 'The request target is too long.' },
  'expectation-failed': { status: 417, text: 'The only supported expectation is "100-continue".' },
  'headers-too-large': { status: 431, text: 'The request header section is too large.' },
  'internal-error': { status: 500, text: 'The proxy failed to handle the request.' },
  'connect-unsupported': { status: 501, text: 'CONNECT is not supported.' },
  'transfer-coding-unsupported': { status: 501, text: 'The only supported transfer coding is "chunked".' },
  'upgrade-unsupported': { status: 501, text: 'The backend does not support the requested protocol upgrade.' },
  'backend-reset': { status: 502, text: 'The backend closed the connection before it responded.' },
  'backend-protocol': { status: 502, text: 'The backend sent an invalid response.' },
  'authorization-failed': { status: 502, text: 'The authorization server sent no valid response.' },
  'connect-failed': { status: 503, text: 'The connection to the backend failed.' },
  'backend-refused': { status: 503, text: 'The backend refused the request before processing it.' },
  'backend-busy': { status: 503, text: 'Too many requests wait for the backend; try again later.' },
  'retry-budget-exceeded': {
    status: 503,
    text: 'Too many requests to the backend failed and were retried; try again later.',
  },
  overloaded: { status: 503, text: 'The proxy is overloaded; try again later.' },
  'too-many-tunnels': {
    status: 503,
    text: 'The proxy has too many upgraded connections; try again later.',
  },
  'request-timeout': { status: 504, text: 'The request was not completed in time.' },
  'backend-timeout': { status: 504, text: 'The backend did not respond in time.' },
  'authorization-timeout': { status: 504, text: 'The authorization server did not respond in time.' },
  'backend-stalled': { status: 504, text: 'The backend stopped reading the request body.' },
} as const satisfies Record<string, { status: number; text: string }>;

export type AnswerReason = keyof typeof answers;

/** The reason why a request ended without a backend's complete response; the fixed label set of logs and metrics. */
export type Reason = AnswerReason | 'authorization-denied' | 'client-aborted';

export const reasons: readonly Reason[] = [
  ...(Object.keys(answers) as AnswerReason[]),
  'authorization-denied',
  'client-aborted',
];

/** Temporary reasons. Retry-After asks the client to retry after a second (RFC 9110 section 10.2.3). */
export const passing: ReadonlySet<Reason> = new Set([
  'backend-busy',
  'retry-budget-exceeded',
  'overloaded',
  'too-many-tunnels',
]);

export interface Answer {
  readonly status: number;
  /** The reason in a sentence. */
  readonly text: string;
  /** A text/plain body: status, its name, and the reason in a sentence. */
  readonly body: Buffer;
}

const prepared = new Map(
  Object.entries(answers).map(([reason, { status, text }]) => [
    reason,
    { status, text, body: Buffer.from(`${status} ${STATUS_CODES[status] ?? ''}\n${text}\n`) },
  ]),
);

/** Returns the prepared response for a reason. */
export function answerFor(reason: AnswerReason): Answer {
  return prepared.get(reason) ?? { status: 500, text: '', body: Buffer.alloc(0) };
}

/** Returns the response as raw bytes, for a request that is rejected before it is read. */
export function rawAnswer(reason: AnswerReason): Buffer {
  const { body } = answerFor(reason);
  return Buffer.concat([
    Buffer.from(rawHead(reason, 'content-type: text/plain; charset=utf-8\r\n', body.length)),
    body,
  ]);
}

/** The same without content, for a head that cannot be read: a response to HEAD has none (RFC 9110 section 9.3.2). */
export function rawAnswerToAnyMethod(reason: AnswerReason): Buffer {
  return Buffer.from(rawHead(reason, '', 0));
}

function rawHead(reason: AnswerReason, type: string, length: number): string {
  const { status } = answerFor(reason);
  const retry = passing.has(reason) ? 'retry-after: 1\r\n' : '';
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nserver: sallyport\r\ndate: ${new Date(wallNow()).toUTCString()}\r\n` +
    `${type}content-length: ${length}\r\nconnection: close\r\n${retry}\r\n`
  );
}
