import type { FastifyReply } from 'fastify';
import type { AdmissionMetrics } from '../telemetry/index.ts';

/** The reason why a review is rejected before it is parsed. */
export type Refusal = 'too-large' | 'busy' | 'aborted';

const refusals: Readonly<Record<Refusal, { readonly code: number; readonly text: string }>> = {
  'too-large': { code: 413, text: 'the body is larger than an AdmissionReview can be, or arrives in too many pieces' },
  busy: { code: 429, text: 'too many reviews are waiting; try again' },
  aborted: { code: 400, text: 'the body did not arrive' },
};

/** Rejects a review. The API server retries within its timeout if the response has Retry-After. */
export function sendRefusal(reply: FastifyReply, reason: Refusal, { degraded }: AdmissionMetrics): FastifyReply {
  const { code, text } = refusals[reason];
  degraded.at(reason).value += 1;
  if (reason === 'busy') reply.header('retry-after', '1');
  // Otherwise the rest of the body would have to be read.
  return sendText(reply.header('connection', 'close'), code, text);
}

/** Sends plain text, which the API server shows to the user after "failed calling webhook". */
export function sendText(reply: FastifyReply, code: number, text: string): FastifyReply {
  return reply.code(code).type('text/plain; charset=utf-8').send(`${text}\n`);
}
