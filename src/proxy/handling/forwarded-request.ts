import type { ListenerConfig, MatchedRoute } from '../../core/routing/config.ts';
import type { Permitted } from './authorization/permission.ts';
import type { ClientStream } from '../messages/client-stream.ts';
import type { CompiledBackend, CompiledRule } from './compiled-rule.ts';
import type { Connection } from '../messages/connection.ts';
import type { DataPlane } from '../data-plane.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import type { RequestHead } from '../messages/request-head.ts';

/** The routing decision for a request that goes to a backend. */
export interface Destination {
  readonly head: RequestHead;
  readonly listener: ListenerConfig;
  readonly matched: MatchedRoute;
  readonly rule: CompiledRule;
  readonly backend: CompiledBackend;
  /** The results of the authorization. */
  readonly permitted: Permitted;
}

/** The view of a request that forwarding needs. */
export interface ForwardedRequest {
  readonly plane: DataPlane;
  readonly connection: Connection;
  readonly client: ClientStream;
  /** The client's address. */
  readonly address: string;
  /** `host:port` of the endpoint tried last. */
  upstream: string | undefined;
  responseBytes: number;
  /** Whether the request is a gRPC call. */
  readonly isCall: boolean;
  /** The gRPC status that the client got. */
  grpcStatus: number | undefined;
  /** Runs an action that has no caller to catch its errors: an unexpected error ends this request only. */
  guard(action: () => void): void;
  /** Ends the request after an unexpected error. */
  fault(error: unknown): void;
  /** Responds with an error of the proxy, or breaks off a response that has already begun. */
  answer(reason: AnswerReason): void;
  /** The buffer for the client is full. */
  overflow(): void;
  /** The client has stopped reading the response. */
  clientStalled(): void;
  /** The connection has switched protocols, so the request timeout no longer applies. */
  switched(): void;
}
