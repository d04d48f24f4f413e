import { isGrpc } from '../core/text/grpc.ts';
import type { Fields } from './forwarder.ts';
import { answerFor } from './reasons.ts';
import type { AnswerReason } from './reasons.ts';
import type { RequestHead } from './request-head.ts';

// "HTTP to gRPC Status Code Mapping"; all others are unknown (2). Where a route cannot be served, calls MUST get
// UNAVAILABLE (GRPCRouteRule.backendRefs).
const codes: ReadonlyMap<number, number> = new Map([
  [400, 13], [401, 16], [403, 7], [404, 12], [429, 14], [500, 14], [502, 14], [503, 14], [504, 14],
]);

/** Whether a request is a gRPC call, which only HTTP/2 carries, and whose answers are read by their trailers. */
export function isCall(head: Pick<RequestHead, 'header'>): boolean {
  return isGrpc(head.header('content-type'));
}

/** The fields of an answer of the proxy's own to a gRPC call: a head with status 200 that ends the stream ("Trailers-Only"). */
export function grpcFields(reason: AnswerReason): Fields {
  const { status, text } = answerFor(reason);
  return ['content-type', 'application/grpc', 'grpc-status', String(codes.get(status) ?? 2), 'grpc-message', percentEncoded(text)];
}

/** Printable ASCII but for the percent sign stays readable; all else goes as bytes of UTF-8. */
function percentEncoded(text: string): string {
  return text.replace(/[^\x20-\x24\x26-\x7e]+/gu, encodeURIComponent);
}
