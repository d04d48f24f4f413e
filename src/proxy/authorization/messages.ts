import type { Authorization } from '../../core/routing/decision/authorization.ts';
import type { HeaderEdits } from '../../core/routing/decision/header-edits.ts';
import type { Fields, UpstreamHead, UpstreamRequest } from '../forwarder.ts';
import type { Peer } from '../forwarding-fields.ts';
import type { RequestHead } from '../request-head.ts';

/** A request that has to be permitted. */
export interface Subject {
  readonly authorization: Authorization;
  readonly head: RequestHead;
  readonly peer: Peer;
  /** Fields of the request as they stand where the filter does, without Host, Content-Length and Via. */
  readonly fields: string[];
  /** The body as far as the server gets it. */
  readonly body: readonly Buffer[];
}

/** The parts of a request to an authorization server that depend on its protocol. */
export type AuthorizationRequest = Pick<UpstreamRequest, 'method' | 'target' | 'fields' | 'needsHttp2'> & {
  readonly body: readonly Buffer[];
};

/** A whole answer of an authorization server. */
export interface AuthorizationAnswer {
  readonly head: UpstreamHead;
  readonly body: readonly Buffer[];
  readonly trailers: Fields;
}

/** What the answer means. `failed`: it is none; nothing is permitted then. */
export type Verdict =
  /** `edits` are made to the request before a backend gets it, `responseEdits` to the response that the client gets. */
  | { readonly type: 'permitted'; readonly edits: HeaderEdits; readonly responseEdits: HeaderEdits | undefined }
  | Denial
  | { readonly type: 'failed' };

/** What the client gets in place of a backend's response; `fields` without Content-Length. */
export interface Denial {
  readonly type: 'denied';
  readonly status: number;
  readonly fields: string[];
  readonly body: readonly Buffer[];
}

/** A protocol in which authorization servers are asked. Both are pure. */
export interface AuthorizationMessages {
  request(subject: Subject): AuthorizationRequest;
  verdict(subject: Subject, answer: AuthorizationAnswer): Verdict;
}
