import {
  authorizationTarget,
  editsAfterPermission,
  fieldsForServer,
} from '../../../core/routing/decision/authorization.ts';
import { fieldsWhere } from '../../../core/text/fields.ts';
import { hopsOfCopy, viaEntry } from '../../../core/text/via.ts';
import { responseFields } from '../../messages/forwarding-fields.ts';
import type { AuthorizationMessages } from './messages.ts';

/** "each backend must respond with a `200` status code […] on a successful authorization" (HTTPExternalAuthFilter.protocol). */
const permits = 200;

/**
 * Authorization by a request with the method, path and Host of the client's request, without its body unless the filter
 * requests it (HTTPAuthConfig).
 */
export const httpAuthorization: AuthorizationMessages = {
  request({ authorization, head, fields, body }) {
    const sent = fieldsForServer(authorization, fields);
    if (head.authority !== '') sent.push('host', head.authority);
    // The length of the body that the server gets, 0 if there is none.
    sent.push('content-length', String(body.reduce((sum, { length }) => sum + length, 0)));
    // Detects a loop: the server may be behind a route that requires its authorization.
    sent.push('via', viaEntry(head.httpVersion, head.hops + hopsOfCopy));
    return {
      method: head.method,
      target: authorizationTarget(authorization, head),
      fields: sent,
      body,
      needsHttp2: false,
    };
  },

  verdict(authorization, { head: { status, fields }, body }) {
    const kept = responseFields(fields);
    if (kept === undefined) return { type: 'failed' };
    if (status === permits)
      return { type: 'permitted', edits: editsAfterPermission(authorization, kept), responseEdits: undefined };
    return {
      type: 'denied',
      status,
      fields: fieldsWhere(kept, (key) => key !== 'content-length' && key !== 'trailer'),
      body,
    };
  },
};
