import type { FastifyReply } from 'fastify';
import type { AdmissionMetrics } from '../telemetry/index.ts';

/** Why a review is refused before it is looked at. */
export type Refusal = 'too-large' | 'busy' | 'aborted';

const refusals: Readonly<Record<Refusal, { readonly code: number; readonly text: string }>> = {
  'too-large': { code: 413, text: 'the body is larger than an AdmissionReview can be' },
  busy: { code: 429, text: 'too many reviews are waiting; try again' },
  aborted: { code: 400, text: 'the body did not arrive' },
};

/** Refuses a review. The API server tries again within its timeout where it is told when. */
export function sendRefusal(reply: FastifyReply, reason: Refusal, { degraded }: AdmissionMetrics): FastifyReply {
  const { code, text } = refusals[reason];
  degraded.at(reason).value += 1;
  if (reason === 'busy') reply.header('retry-after', '1');
  // What is left of the body would have to be read otherwise.
  return sendText(reply.header('connection', 'close'), code, text);
}

/** Plain text: the API server shows it to the user after "failed calling webhook". */
export function sendText(reply: FastifyReply, code: number, text: string): FastifyReply {
  return reply.code(code).type('text/plain; charset=utf-8').send(`${text}\n`);
}
