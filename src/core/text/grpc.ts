/**
 * Whether a content-type denotes a gRPC request: `application/grpc`, optionally followed by a message format or parameters.
 * `application/grpc-web` is another protocol (gRPC over HTTP/2, "Content-Type").
 */
export function isGrpc(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType.slice(0, media.length).toLowerCase() !== media) return false;
  return continuations.has(contentType.charAt(media.length));
}

const media = 'application/grpc';
const continuations: ReadonlySet<string> = new Set(['', '+', ';', ' ', '\t']);
