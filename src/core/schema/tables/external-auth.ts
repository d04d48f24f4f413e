import { since } from '../availability.ts';
import { integer, object, string } from '../node.ts';
import { backendObjectReference, headerNames } from './common.ts';

/** A server that authorizes requests (GEP-1494). */
export const externalAuth = object(
  {
    backendRef: backendObjectReference,
    forwardBody: object({ maxSize: integer({ format: since('1.7', 'int32'), minimum: since('1.7', 0) }) }),
    grpc: object({ allowedHeaders: headerNames }),
    http: object({
      allowedHeaders: headerNames,
      allowedResponseHeaders: headerNames,
      path: string({
        maxLength: 1024,
        pattern: "^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$",
        form: 'the characters of a URL path, such as /check',
      }),
    }),
    protocol: string({ enum: ['HTTP', 'GRPC'] }),
  },
  { required: ['backendRef', 'protocol'], lost: 'Without it, requests pass without authentication' },
);
