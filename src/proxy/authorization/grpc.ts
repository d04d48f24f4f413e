import { fieldsForServer } from '../../core/routing/decision/authorization.ts';
import { isEditable } from '../../core/routing/decision/header-edits.ts';
import type { HeaderEdits } from '../../core/routing/decision/header-edits.ts';
import { nameKey, valueOf } from '../../core/text/fields.ts';
import { isGrpc } from '../../core/text/grpc.ts';
import { hopsOfCopy, viaEntry } from '../../core/text/via.ts';
import { grpcStatusIn } from '../grpc.ts';
import { isField } from '../sendable.ts';
import { decodeCheckResponse, encodeCheckRequest } from './check-messages.ts';
import type { CheckResponse, HeaderOption } from './check-messages.ts';
import type { AuthorizationAnswer, AuthorizationMessages, Verdict } from './messages.ts';
import { MalformedMessage } from './protobuf.ts';

const method = '/envoy.service.auth.v3.Authorization/Check';

/** What a client gets whose request is denied without a status for it. */
const forbidden = 403;

/** Before each message: whether it is compressed, and its length ("gRPC over HTTP2"). */
const prefixBytes = 5;

/** An authorization server that is asked by a call of `envoy.service.auth.v3.Authorization/Check` (HTTPExternalAuthFilter.protocol). */
export const grpcAuthorization: AuthorizationMessages = {
  request({ authorization, head, peer, fields, body }) {
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
    const [namespace = '', service = ''] = authorization.label.split('/');
    const sent = ['content-type', 'application/grpc', 'te', 'trailers', 'host', `${service}.${namespace}`, 'via', viaEntry(httpVersion, head.hops + hopsOfCopy)];
    return { method: 'POST', target: method, fields: sent, body: [prefix, message], needsHttp2: true };
  },

  verdict(_subject, answer) {
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

/** The one message of a call that ended with OK. */
function messageIn({ head, body, trailers }: AuthorizationAnswer): Buffer | undefined {
  if (head.status !== 200 || !isGrpc(valueOf(head.fields, 'content-type')) || grpcStatusIn(trailers) !== 0) return undefined;
  const bytes = Buffer.concat(body);
  const isWhole = bytes.length >= prefixBytes && bytes[0] === 0 && bytes.readUInt32BE(1) === bytes.length - prefixBytes;
  return isWhole ? bytes.subarray(prefixBytes) : undefined;
}

/** @throws MalformedMessage for headers that HTTP cannot carry */
function verdictOf(response: CheckResponse): Verdict {
  if (response.type === 'ok') {
    return { type: 'permitted', edits: editsOf(response.headers, response.removed), responseEdits: editsOf(response.responseHeaders, []) };
  }
  const fields = checked(response.headers).flatMap(({ name, value }) => [name, value]);
  return { type: 'denied', status: response.status === 0 ? forbidden : response.status, fields, body: [response.body] };
}

/** A header that is set replaces those of its name, also one that was set before it; one that is appended stands beside them. */
function editsOf(options: readonly HeaderOption[], removed: readonly string[]): HeaderEdits {
  const dropped = new Set(removed.filter((name) => isEditable(name)).map(nameKey));
  const added: string[] = [];
  for (const { name, value, appends } of checked(options)) {
    const key = nameKey(name);
    if (!appends) {
      dropped.add(key);
      for (let position = added.length - 2; position >= 0; position -= 2) if (nameKey(added[position] ?? '') === key) added.splice(position, 2);
    }
    added.push(name, value);
  }
  return { dropped, added };
}

function checked(options: readonly HeaderOption[]): readonly HeaderOption[] {
  if (!options.every(({ name, value }) => isField(name, value))) throw new MalformedMessage('invalid header');
  return options.filter(({ name }) => isEditable(name));
}
