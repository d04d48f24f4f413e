import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { isGrpc } from '../../core/text/grpc.ts';
import { nameKey, positionOf } from '../../core/text/fields.ts';

/** A request to a data plane. */
export interface TracedCall {
  /** Where the data plane listens. */
  readonly address: string;
  readonly port: number;
  /** The server name for TLS; `undefined`: no TLS. */
  readonly serverName: string | undefined;
  /** Whether any certificate is accepted. */
  readonly insecure: boolean;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Host and port for the Host field. */
  readonly authority: string;
  /** Names and values of all fields except Host, flat. */
  readonly fields: readonly string[];
}

/** The head of a response. */
export interface TracedAnswer {
  readonly status: number;
  /** The value of a response field, by its name in lower case. */
  readonly field: (name: string) => string | undefined;
}

/** Milliseconds until an answer must have begun. */
const patience = 10_000;

/**
 * Sends a request without a body, and takes the head of the response. gRPC calls go over HTTP/2, all others over HTTP/1.1.
 *
 * @throws errors of the connection, with a message for people
 */
export function sendTraced(call: TracedCall): Promise<TracedAnswer> {
  const { fields } = call;
  const position = positionOf(fields, 'content-type');
  return isGrpc(position === -1 ? undefined : fields[position + 1]) ? overHttp2(call) : overHttp1(call);
}

function overHttp1(call: TracedCall): Promise<TracedAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<TracedAnswer>();
  const { address: host, port, method, target: path, serverName: servername } = call;
  const send = servername === undefined ? httpRequest : httpsRequest;
  const headers = ['host', call.authority, ...call.fields];
  const tls = servername === undefined ? {} : { servername, rejectUnauthorized: !call.insecure };
  const request = send({ host, port, method, path, headers, setHost: false, agent: false, timeout: patience, ...tls });
  const settle = (response: IncomingMessage): void => {
    const { statusCode: status = 0, headers: answered } = response;
    resolve({ status, field: (name) => answered[name]?.toString() });
    response.on('error', () => undefined).destroy();
  };
  request.on('response', settle);
  request.on('upgrade', (response, socket) => {
    socket.destroy();
    settle(response);
  });
  request.on('timeout', () => request.destroy(new Error(`no response within ${patience / 1000} seconds`)));
  request.on('error', reject);
  request.end();
  return promise;
}

function overHttp2(call: TracedCall): Promise<TracedAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<TracedAnswer>();
  const { address, port, serverName: servername, insecure } = call;
  const scheme = servername === undefined ? 'http' : 'https';
  const host = address.includes(':') ? `[${address}]` : address;
  const tls = servername === undefined ? {} : { servername, rejectUnauthorized: !insecure };
  const session = connectHttp2(`${scheme}://${host}:${port}`, tls);
  session.on('error', reject);
  session.setTimeout(patience, () => session.destroy(new Error(`no response within ${patience / 1000} seconds`)));
  const fields: Record<string, string> = {};
  for (let index = 0; index < call.fields.length; index += 2) {
    fields[nameKey(call.fields[index] ?? '')] = call.fields[index + 1] ?? '';
  }
  const stream = session.request({
    ...fields,
    ':method': call.method,
    ':path': call.target,
    ':authority': call.authority,
    ':scheme': scheme,
  });
  stream.on('response', (answered) => {
    resolve({ status: Number(answered[':status']), field: (name) => answered[name]?.toString() });
    session.destroy();
  });
  stream.on('error', reject);
  stream.end();
  return promise;
}
