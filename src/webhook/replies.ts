import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AdmissionMetrics } from '../telemetry/index.ts';

/** The reason why a review is rejected before it is parsed. */
export type Refusal = 'too-large' | 'busy' | 'aborted';

const refusals: Readonly<Record<Refusal, { readonly code: number; readonly text: string }>> = {
  'too-large': { code: 413, text: 'the body is larger than an AdmissionReview can be, or arrives in too many pieces' },
  busy: { code: 429, text: 'too many reviews are waiting; try again' },
  aborted: { code: 400, text: 'the body did not arrive' },
};

/** A response that no review causes. */
export type Failure = keyof typeof failures;

const failures = {
  malformed: { code: 400, text: 'the request cannot be read' },
  'content-type': { code: 415, text: 'send the AdmissionReview with Content-Type: application/json' },
  error: { code: 500, text: 'the request failed; see the log of the webhook' },
} as const;

/** Writes all responses of the webhook, each in one piece. */
export class Replies {
  private readonly degraded: AdmissionMetrics['degraded'];
  private readonly isEnding: () => boolean;

  /** @param isEnding whether the client should open its next connection elsewhere */
  constructor({ degraded }: AdmissionMetrics, isEnding: () => boolean) {
    this.degraded = degraded;
    this.isEnding = isEnding;
  }

  /** Sends an AdmissionReview. */
  review(response: ServerResponse, review: object): void {
    this.send(response, 200, {
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(review),
    });
  }

  /** Sends plain text, which the API server shows to the user after "failed calling webhook". */
  text(response: ServerResponse, code: number, text: string, headers: OutgoingHttpHeaders = {}): void {
    this.send(response, code, {
      headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' },
      body: `${text}\n`,
    });
  }

  /** Like `text`, for a request whose body may not have been read: closes the connection. Otherwise the rest would have to be read. */
  unread(response: ServerResponse, code: number, text: string, headers: OutgoingHttpHeaders = {}): void {
    this.text(response, code, text, { ...headers, connection: 'close' });
  }

  /** Rejects a review. The API server retries within its timeout if the response has Retry-After. */
  refuse(response: ServerResponse, reason: Refusal): void {
    const { code, text } = refusals[reason];
    this.degraded.at(reason).value += 1;
    this.unread(response, code, text, reason === 'busy' ? { 'retry-after': '1' } : {});
  }

  /** Sends the status of a request that failed, and counts it. */
  fail(response: ServerResponse, failure: Failure): void {
    const { code, text } = failures[failure];
    this.degraded.at(failure).value += 1;
    this.unread(response, code, text);
  }

  private send(
    response: ServerResponse,
    code: number,
    { headers, body }: { readonly headers: OutgoingHttpHeaders; readonly body: string },
  ): void {
    if (this.isEnding()) headers['connection'] = 'close';
    headers['content-length'] = Buffer.byteLength(body);
    response.writeHead(code, headers);
    response.end(body);
  }
}
