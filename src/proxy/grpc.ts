import { isGrpc } from '../core/text/grpc.ts';
import { valueOf } from '../core/text/fields.ts';
import type { Fields } from './forwarder.ts';
import { answerFor } from './reasons.ts';
import type { AnswerReason } from './reasons.ts';
import type { RequestHead } from './request-head.ts';

/** The greatest of the codes that gRPC knows ("Status codes and their use in gRPC"). */
export const lastGrpcStatus = 16;
const unknown = 2;

// "HTTP to gRPC Status Code Mapping"; all others are unknown. Where a route cannot be served, calls MUST get
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
  return ['content-type', 'application/grpc', 'grpc-status', String(codes.get(status) ?? unknown), 'grpc-message', percentEncoded(text)];
}

/**
 * The code with which a call ended, by its trailers or by the fields of a head alone; `undefined` where they do not say. Codes that
 * gRPC does not know are UNKNOWN, which is what clients take them for.
 */
export function grpcStatusIn(fields: Fields): number | undefined {
  const value = valueOf(fields, 'grpc-status');
  if (value === undefined) return undefined;
  return /^[0-9]{1,2}$/.test(value) && Number(value) <= lastGrpcStatus ? Number(value) : unknown;
}

/** Printable ASCII but for the percent sign stays readable; all else goes as bytes of UTF-8. */
function percentEncoded(text: string): string {
  return text.replace(/[^\x20-\x24\x26-\x7e]+/gu, encodeURIComponent);
}
