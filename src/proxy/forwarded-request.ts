import type { ListenerConfig, MatchedRoute } from '../core/routing/config.ts';
import type { Permission } from './authorization/permission.ts';
import type { ClientStream } from './client-stream.ts';
import type { CompiledBackend, CompiledRule } from './compiled-rule.ts';
import type { Connection } from './connection.ts';
import type { DataPlane } from './data-plane.ts';
import type { AnswerReason } from './reasons.ts';
import type { RequestHead } from './request-head.ts';

/** What was decided about a request that goes to a backend. */
export interface Destination {
  readonly head: RequestHead;
  readonly listener: ListenerConfig;
  readonly matched: MatchedRoute;
  readonly rule: CompiledRule;
  readonly backend: CompiledBackend;
  /** Where somebody had to permit the request. */
  readonly permission: Permission | undefined;
}

/** A request as far as carrying it to a backend and back is concerned. */
export interface ForwardedRequest {
  readonly plane: DataPlane;
  readonly connection: Connection;
  readonly client: ClientStream;
  /** Of the client. */
  readonly address: string;
  /** `host:port` of the endpoint tried last. */
  upstream: string | undefined;
  responseBytes: number;
  /** Whether the request is a gRPC call. */
  readonly isCall: boolean;
  /** The code with which a call ended, as the client was told. */
  grpcStatus: number | undefined;
  /** Does something that nobody above it looks after: an error that nobody foresaw ends the request, and nothing else. */
  guard(action: () => void): void;
  /** Ends the request after an error that nobody foresaw. */
  fault(error: unknown): void;
  /** Answers on the proxy's own account; breaks the connection off where an answer has already begun. */
  answer(reason: AnswerReason): void;
  /** There is no room for what waits for the client. */
  overflow(): void;
  /** The client takes nothing of the response any more. */
  clientStalled(): void;
  /** The connection belongs to another protocol now, which has no end that a timeout could know. */
  switched(): void;
}
