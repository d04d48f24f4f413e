import { editFields } from '../../core/routing/decision/header-edits.ts';
import { hasField, withoutField } from '../../core/text/fields.ts';
import { viaEntry } from '../../core/text/via.ts';
import type { ClientFields, UpstreamHead } from '../messages/forwarder.ts';
import { responseFields } from '../messages/forwarding-fields.ts';
import { noteRepeated } from '../messages/repeated.ts';
import { hasNoContent } from '../messages/sendable.ts';
import type { Destination } from './forwarded-request.ts';

/**
 * Returns the fields of a backend's response for the client, or `undefined` if the response's framing is unsupported.
 * Returns the same object again for a head that is received again, and a request with the same backend.
 */
export function clientFields(answer: UpstreamHead, destination: Destination): ClientFields | undefined {
  const { head, rule, backend, permitted } = destination;
  // In these cases, the fields also depend on values that are not compared below.
  if (rule.cors !== undefined || permitted.responseEdits.length > 0) return makeFields(answer, destination);
  const { forwarded } = answer;
  const hasBody = !hasNoContent(head.method, answer.status);
  const { httpVersion } = head;
  if (forwarded?.backend === backend && forwarded.hasBody === hasBody && forwarded.httpVersion === httpVersion) {
    if (!forwarded.isRepeated) noteRepeated(forwarded.made.fields);
    forwarded.isRepeated = true;
    return forwarded.made;
  }
  const made = makeFields(answer, destination);
  if (made !== undefined) answer.forwarded = { made, backend, hasBody, httpVersion, isRepeated: false };
  return made;
}

function makeFields({ status, fields, httpVersion }: UpstreamHead, destination: Destination): ClientFields | undefined {
  const kept = responseFields(fields);
  if (kept === undefined) return undefined;
  const { head, rule, backend, permitted } = destination;
  const hasLength = hasField(kept, 'content-length');
  const hasBody = !hasNoContent(head.method, status);
  // In HTTP/1.1 trailers require chunks.
  const trailersPossible = hasBody && (head.httpVersion === '2.0' || (head.httpVersion === '1.1' && !hasLength));
  let edited = editFields(rule.cors?.respond(kept, head) ?? kept, backend.responseEdits);
  edited = editFields(edited, permitted.responseEdits);
  // RFC 9110 section 8.6. Trailer is removed if no trailers can follow.
  if (status === 204 || status === 205) edited = withoutField(edited, 'content-length');
  if (!trailersPossible) edited = withoutField(edited, 'trailer');
  edited.push('via', viaEntry(httpVersion, 1));
  return { fields: edited, trailersPossible };
}
