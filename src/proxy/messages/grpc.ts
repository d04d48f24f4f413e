import { isGrpc } from '../../core/text/grpc.ts';
import { valueOf } from '../../core/text/fields.ts';
import type { Fields } from './forwarder.ts';
import { answerFor } from './reasons.ts';
import type { AnswerReason } from './reasons.ts';
import type { RequestHead } from './request-head.ts';

/** The highest status code of gRPC ("Status codes and their use in gRPC"). */
export const lastGrpcStatus = 16;
const unknown = 2;

// "HTTP to gRPC Status Code Mapping"; all others are UNKNOWN. If a route cannot be served, calls MUST get UNAVAILABLE
// (GRPCRouteRule.backendRefs).
const codes: ReadonlyMap<number, number> = new Map([
  [400, 13],
  [401, 16],
  [403, 7],
  [404, 12],
  [429, 14],
  [500, 14],
  [502, 14],
  [503, 14],
  [504, 14],
]);

/** Whether a request is a gRPC call. gRPC requires HTTP/2, and its status is in the trailers of the response. */
export function isCall(head: Pick<RequestHead, 'header'>): boolean {
  return isGrpc(head.header('content-type'));
}

/** Returns the fields of the proxy's own response to a gRPC call: a head with status 200 that ends the stream ("Trailers-Only"). */
export function grpcFields(reason: AnswerReason): Fields {
  const { status, text } = answerFor(reason);
  return [
    'content-type',
    'application/grpc',
    'grpc-status',
    String(codes.get(status) ?? unknown),
    'grpc-message',
    percentEncoded(text),
  ];
}

/**
 * Returns the gRPC status from trailers or from a Trailers-Only head; `undefined` if there is none. Codes that gRPC
 * does not define become UNKNOWN, as in clients.
 */
export function grpcStatusIn(fields: Fields): number | undefined {
  const value = valueOf(fields, 'grpc-status');
  if (value === undefined) return undefined;
  return /^[0-9]{1,2}$/.test(value) && Number(value) <= lastGrpcStatus ? Number(value) : unknown;
}

/** Printable ASCII except the percent sign stays readable; everything else becomes percent-encoded UTF-8. */
function percentEncoded(text: string): string {
  return text.replace(/[^\x20-\x24\x26-\x7e]+/gu, encodeURIComponent);
}
