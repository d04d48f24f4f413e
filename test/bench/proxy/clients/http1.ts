import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Peer } from '../measurement.ts';
import type { Channel, Events, OpenChannels } from './exchanges.ts';
import type { Requests } from './requests.ts';

/** HTTP/1.1 connections, with one request at a time on each. Responses need a Content-Length. */
export function http1Connections(requests: Requests): OpenChannels {
  const request = textOf(requests);
  return async (target, eventsOf) => {
    const sockets: Socket[] = [];
    const opening = Array.from({ length: requests.connections }, async (_, position): Promise<Channel> => {
      const socket = await open(target, requests, eventsOf(position));
      sockets.push(socket);
      return { send: () => void socket.write(request, 'latin1') };
    });
    return { list: await Promise.all(opening), close: () => sockets.forEach((socket) => socket.destroy()) };
  };
}

function textOf({ path, body }: Requests): string {
  const fields = 'Host: bench\r\nUser-Agent: bench\r\nAccept: */*\r\n';
  return body === undefined
    ? `GET ${path} HTTP/1.1\r\n${fields}\r\n`
    : `POST ${path} HTTP/1.1\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;
}

async function open({ address, name }: Peer, { scheme }: Requests, events: Events): Promise<Socket> {
  const fail = (reason: string): void => events.onFailure(new Error(`HTTP/1.1 connection of ${name}: ${reason}`));
  const responses = new ResponseReader(events.onReply, fail);
  const socket =
    scheme === 'http'
      ? connect({ ...address, noDelay: true })
      : connectTls({ ...address, servername: 'bench', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  await once(socket, scheme === 'http' ? 'connect' : 'secureConnect');
  socket.on('data', (bytes: Buffer) => responses.take(bytes));
  socket.on('error', ({ message }) => fail(message)).on('end', () => fail('closed by the peer'));
  return socket;
}

/** Finds the ends of responses. */
class ResponseReader {
  private readonly done: () => void;
  private readonly fail: (reason: string) => void;
  private head = '';
  /** Bytes of the body that are missing. `undefined` in a head. */
  private missing: number | undefined;

  constructor(done: () => void, fail: (reason: string) => void) {
    this.done = done;
    this.fail = fail;
  }

  take(bytes: Buffer): void {
    const size = this.missing === undefined ? this.readHead(bytes) : bytes.length;
    if (this.missing === undefined) return;
    this.missing -= size;
    if (this.missing < 0) this.fail('more bytes than the response has');
    if (this.missing > 0) return;
    this.missing = undefined;
    this.done();
  }

  /** Returns the number of bytes after the head. */
  private readHead(bytes: Buffer): number {
    this.head += bytes.toString('latin1');
    const end = this.head.indexOf('\r\n\r\n');
    if (end < 0) return 0;
    const { head } = this;
    this.head = '';
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head.slice(0, end + 2))?.[1];
    if (!head.startsWith('HTTP/1.1 200 ') || length === undefined)
      this.fail(`unexpected response: ${head.slice(0, end)}`);
    this.missing = Number(length ?? 0);
    return head.length - end - 4;
  }
}
