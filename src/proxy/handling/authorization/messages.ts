import type { Authorization } from '../../../core/routing/decision/authorization.ts';
import type { HeaderEdits } from '../../../core/routing/decision/header-edits.ts';
import type { Fields, UpstreamHead, UpstreamRequest } from '../../messages/forwarder.ts';
import type { Peer } from '../../messages/forwarding-fields.ts';
import type { RequestHead } from '../../messages/request-head.ts';

/** A request that requires authorization. */
export interface Subject {
  readonly authorization: Authorization;
  /** The name of an authorization server outside the cluster; `undefined` for one in the cluster. */
  readonly externalHostname: string | undefined;
  readonly head: RequestHead;
  readonly peer: Peer;
  /** Fields of the request at the position of the filter, without Host, Content-Length and Via. */
  readonly fields: string[];
  /** The part of the body that the server gets. */
  readonly body: readonly Buffer[];
}

/** The parts of a request to an authorization server that depend on the protocol. */
export type AuthorizationRequest = Pick<UpstreamRequest, 'method' | 'target' | 'fields' | 'needsHttp2'> & {
  readonly body: readonly Buffer[];
};

/** A complete response of an authorization server. */
export interface AuthorizationAnswer {
  readonly head: UpstreamHead;
  readonly body: readonly Buffer[];
  readonly trailers: Fields;
}

/** The meaning of a response. `failed`: it is invalid, and nothing is permitted. */
export type Verdict =
  /** `edits` apply to the request before a backend gets it, `responseEdits` to the response for the client. */
  | { readonly type: 'permitted'; readonly edits: HeaderEdits; readonly responseEdits: HeaderEdits | undefined }
  | Denial
  | { readonly type: 'failed' };

/** The response that the client gets instead of a backend's response; `fields` without Content-Length. */
export interface Denial {
  readonly type: 'denied';
  readonly status: number;
  readonly fields: string[];
  readonly body: readonly Buffer[];
}

/** Memory of a field besides its text, in bytes: two strings and their entries in lists and sets. */
const perField = 128;
/** What HTTP/2 counts for a field besides its text, in bytes (RFC 9113 section 6.5.2). */
const listedPerField = 32;

/** The size of all fields that a verdict contains, in bytes: `section` as HTTP/2 limits it, and `memory`. */
export function sizeOf(verdict: Verdict): { readonly section: number; readonly memory: number } {
  const texts = textsOf(verdict);
  const bytes = texts.reduce((sum, { length }) => sum + length, 0);
  return { section: bytes + (texts.length / 2) * listedPerField, memory: bytes + (texts.length / 2) * perField };
}

function textsOf(verdict: Verdict): readonly string[] {
  switch (verdict.type) {
    case 'failed':
      return [];
    case 'denied':
      return verdict.fields;
    case 'permitted': {
      const { edits, responseEdits } = verdict;
      return [...edits.added, ...edits.dropped, ...(responseEdits?.added ?? []), ...(responseEdits?.dropped ?? [])];
    }
  }
}

/** A protocol of authorization servers. Both functions are pure. */
export interface AuthorizationMessages {
  request(subject: Subject): AuthorizationRequest;
  verdict(authorization: Authorization, answer: AuthorizationAnswer): Verdict;
}
