import { request as startRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Connector } from './connector.ts';
import type { ResponseReceiver, UpstreamExchange, UpstreamFailure, UpstreamRequest } from './forwarder.ts';
import { pairs } from './forwarding-fields.ts';

/**
 * Forwards a request with trailers over HTTP/1.1, for which undici has no means. They are rare: each gets a connection of
 * its own. `timeout` is milliseconds for it to come about.
 */
export function forwardWithTrailers(request: UpstreamRequest, receiver: ResponseReceiver, timeout: number): UpstreamExchange {
  const call = new TrailerCall(request, receiver);
  call.connect(new Connector(request.upstream, ['http/1.1'], timeout));
  return call;
}

class TrailerCall implements UpstreamExchange {
  private readonly request: UpstreamRequest;
  private readonly receiver: ResponseReceiver;
  private socket: Socket | undefined;
  private response: IncomingMessage | undefined;
  private isOver = false;

  constructor(request: UpstreamRequest, receiver: ResponseReceiver) {
    this.request = request;
    this.receiver = receiver;
  }

  connect(connector: Connector): void {
    this.socket = connector.connect({ established: (socket) => this.begin(socket), failed: () => this.fail('connect') });
  }

  abort(): void {
    this.isOver = true;
    this.request.body?.destroy();
    this.socket?.destroy();
  }

  pause(): void {
    this.response?.pause();
  }

  resume(): void {
    this.response?.resume();
  }

  private begin(socket: Socket): void {
    const { method, target: path, fields, body } = this.request;
    this.receiver.onConnected();
    const headers = [...fields, 'transfer-encoding', 'chunked', 'connection', 'close'];
    let message: ClientRequest;
    try {
      message = startRequest({ createConnection: () => socket, method, path, headers });
    } catch {
      this.fail('protocol');
      return;
    }
    message.on('error', (error: NodeJS.ErrnoException) => this.fail(error.code?.startsWith('HPE_') === true ? 'protocol' : 'reset'));
    message.on('information', ({ statusCode, rawHeaders }) => this.receiver.onInformation(statusCode, rawHeaders));
    message.on('response', (response) => this.answer(response));
    body?.on('end', () => addTrailers(message, this.request)).pipe(message);
  }

  private answer(response: IncomingMessage): void {
    if (this.isOver) return;
    this.response = response;
    this.receiver.onHead(response.statusCode ?? 0, response.rawHeaders);
    response.on('data', (chunk: Buffer) => {
      if (!this.isOver) this.receiver.onData(chunk);
    });
    response.on('error', () => this.fail('reset'));
    response.on('end', () => {
      if (this.isOver) return;
      // What is left of the body nobody asks for any more.
      this.abort();
      this.receiver.onEnd(response.rawTrailers);
    });
  }

  private fail(failure: UpstreamFailure): void {
    if (this.isOver) return;
    this.abort();
    this.receiver.onFailure(failure);
  }
}

function addTrailers(message: ClientRequest, { trailers }: UpstreamRequest): void {
  try {
    message.addTrailers(pairs(trailers?.() ?? []));
  } catch {
    // What cannot be sent is left out.
  }
}
