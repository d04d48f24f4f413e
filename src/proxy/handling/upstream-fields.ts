import { forwardedHost } from '../../core/routing/decision/decide.ts';
import { editFields } from '../../core/routing/decision/header-edits.ts';
import { viaEntry } from '../../core/text/via.ts';
import type { Destination, ForwardedRequest } from './forwarded-request.ts';
import { forwardedFields } from '../messages/forwarding-fields.ts';

/** Returns the fields of a request for its backend, including those set by an authorization server; Via is last. */
export function upstreamFields(
  { connection, plane }: Pick<ForwardedRequest, 'connection' | 'plane'>,
  { head, backend, permitted: { change } }: Destination,
): string[] {
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
