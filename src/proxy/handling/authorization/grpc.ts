import { fieldsForServer } from '../../../core/routing/decision/authorization.ts';
import { ofEndpointsKey } from '../../../core/graph/backends/endpoints-key.ts';
import { isEditable } from '../../../core/routing/decision/header-edits.ts';
import type { HeaderEdits } from '../../../core/routing/decision/header-edits.ts';
import { nameKey, valueOf } from '../../../core/text/fields.ts';
import { isGrpc } from '../../../core/text/grpc.ts';
import { hopsOfCopy, viaEntry } from '../../../core/text/via.ts';
import { grpcStatusIn } from '../../messages/grpc.ts';
import { isField } from '../../messages/sendable.ts';
import { decodeCheckResponse, encodeCheckRequest } from './check-messages.ts';
import type { CheckResponse, HeaderOption } from './check-messages.ts';
import type { AuthorizationAnswer, AuthorizationMessages, Verdict } from './messages.ts';
import { MalformedMessage } from './protobuf.ts';

const method = '/envoy.service.auth.v3.Authorization/Check';

/** The status for a denied request if the server specifies none. */
const forbidden = 403;

/** Prefix of each message: compressed flag and length ("gRPC over HTTP2"). */
const prefixBytes = 5;

/** Authorization by a call of `envoy.service.auth.v3.Authorization/Check` (HTTPExternalAuthFilter.protocol). */
export const grpcAuthorization: AuthorizationMessages = {
  request({ authorization, externalHostname, head, peer, fields, body }) {
    const { contentLength, authority, httpVersion } = head;
    const headers = fieldsForServer(authorization, fields);
    if (contentLength !== undefined && contentLength > 0) headers.push('content-length', String(contentLength));
    const message = encodeCheckRequest({
      method: head.method,
      path: `${head.path}${head.search}`,
      host: authority,
      scheme: peer.scheme,
      protocol: httpVersion === '2.0' ? 'HTTP/2' : `HTTP/${httpVersion}`,
      size: contentLength,
      headers,
      body: Buffer.concat(body),
      source: peer.address,
    });
    const prefix = Buffer.alloc(prefixBytes);
    prefix.writeUInt32BE(message.length, 1);
    const { namespace, name } = ofEndpointsKey(authorization.endpoints ?? '').backend;
    const sent = [
      'content-type',
      'application/grpc',
      'te',
      'trailers',
      'host',
      // An external server may serve several hosts, and knows only its own names.
      externalHostname ?? `${name}.${namespace}`,
      'via',
      viaEntry(httpVersion, head.hops + hopsOfCopy),
    ];
    return { method: 'POST', target: method, fields: sent, body: [prefix, message], needsHttp2: true };
  },

  verdict(_authorization, answer) {
    const message = messageIn(answer);
    if (message === undefined) return { type: 'failed' };
    try {
      return verdictOf(decodeCheckResponse(message));
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      return { type: 'failed' };
    }
  },
};

/** Returns the single message of a call that ended with OK. */
function messageIn({ head, body, trailers }: AuthorizationAnswer): Buffer | undefined {
  if (head.status !== 200 || !isGrpc(valueOf(head.fields, 'content-type')) || grpcStatusIn(trailers) !== 0)
    return undefined;
  const bytes = Buffer.concat(body);
  const isWhole = bytes.length >= prefixBytes && bytes[0] === 0 && bytes.readUInt32BE(1) === bytes.length - prefixBytes;
  return isWhole ? bytes.subarray(prefixBytes) : undefined;
}

/** @throws MalformedMessage for headers that are invalid in HTTP */
function verdictOf(response: CheckResponse): Verdict {
  if (response.type === 'ok') {
    return {
      type: 'permitted',
      edits: editsOf(response.headers, response.removed),
      responseEdits: editsOf(response.responseHeaders, []),
    };
  }
  const fields = checked(response.headers).flatMap(({ name, value }) => [name, value]);
  return { type: 'denied', status: response.status === 0 ? forbidden : response.status, fields, body: [response.body] };
}

/** A set header replaces all headers of its name, including one that was set earlier. An appended header is added to them. */
function editsOf(options: readonly HeaderOption[], removed: readonly string[]): HeaderEdits {
  const all = checked(options).map((option) => ({ ...option, key: nameKey(option.name) }));
  // A server may send tens of thousands of headers, so the number of steps must not grow faster than theirs.
  const lastSet = new Map(all.flatMap(({ key, appends }, position) => (appends ? [] : [[key, position] as const])));
  return {
    dropped: new Set([...removed.filter((name) => isEditable(name)).map(nameKey), ...lastSet.keys()]),
    added: all
      .filter(({ key }, position) => position >= (lastSet.get(key) ?? 0))
      .flatMap(({ name, value }) => [name, value]),
  };
}

function checked(options: readonly HeaderOption[]): readonly HeaderOption[] {
  if (!options.every(({ name, value }) => isField(name, value))) throw new MalformedMessage('invalid header');
  return options.filter(({ name }) => isEditable(name));
}
