import { forwardedHost } from '../../core/routing/decision/decide.ts';
import { editFields } from '../../core/routing/decision/header-edits.ts';
import type { Fields } from '../../core/text/fields.ts';
import { viaEntry } from '../../core/text/via.ts';
import type { Destination, ForwardedRequest } from './forwarded-request.ts';
import { forwardedFields } from '../messages/forwarding-fields.ts';
import { noteRepeated } from '../messages/repeated.ts';

/**
 * Returns the fields of a request for its backend, including those set by an authorization server; Via is last. Returns the
 * same array again for the next request of the connection that has the same fields and the same backend.
 */
export function upstreamFields(
  context: Pick<ForwardedRequest, 'connection' | 'plane'>,
  destination: Destination,
): Fields {
  const { head, backend, permitted } = destination;
  const { section, authority } = head;
  // In these cases, the fields also depend on values that are not compared below.
  if (permitted.change !== undefined || head.edits.length > 0 || head.remainingHops !== undefined)
    return makeFields(context, destination);
  const { forwardedPolicy: policy } = context.plane;
  const { forwarded } = section;
  if (forwarded?.backend === backend && forwarded.authority === authority && forwarded.policy === policy) {
    if (!forwarded.isRepeated) noteRepeated(forwarded.fields);
    forwarded.isRepeated = true;
    return forwarded.fields;
  }
  const fields = makeFields(context, destination);
  section.forwarded = { fields, backend, authority, policy, isRepeated: false };
  return fields;
}

function makeFields(
  { connection, plane }: Pick<ForwardedRequest, 'connection' | 'plane'>,
  { head, backend, permitted: { change } }: Destination,
): Fields {
  const edits =
    change === undefined ? backend.requestEdits : backend.requestEdits.toSpliced(change.before, 0, change.edits);
  const fields = editFields(forwardedFields(head, connection.peer, plane.forwardedPolicy), edits);
  const host = forwardedHost(backend, head.authority);
  if (host !== '') fields.push('host', host);
  if (head.contentLength !== undefined && head.contentLength > 0)
    fields.push('content-length', String(head.contentLength));
  fields.push('via', viaEntry(head.httpVersion, head.hops + 1));
  return fields;
}
