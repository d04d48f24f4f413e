import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import type { Channel, OpenChannels } from './exchanges.ts';
import { urlOf, type Requests } from './requests.ts';

export interface Http2Options {
  /** Concurrent streams of a connection. */
  readonly streams: number;
  readonly fields?: Readonly<Record<string, string>>;
}

/** HTTP/2 connections, with one request at a time on each of a number of streams. */
export function http2Connections(requests: Requests, { streams, fields = {} }: Http2Options): OpenChannels {
  const { path, body } = requests;
  const head = { ':method': body === undefined ? 'GET' : 'POST', ':path': path, ...fields };
  const content = body === undefined ? undefined : Buffer.from(body, 'latin1');
  return async (target, eventsOf) => {
    const sessions: ClientHttp2Session[] = [];
    const channelOf = (session: ClientHttp2Session, position: number): Channel => {
      const { onReply, onFailure } = eventsOf(position);
      const fail = (reason: string): void => onFailure(new Error(`HTTP/2 request to ${target.name}: ${reason}`));
      const send = (): void => {
        const stream = session.request(head, { endStream: content === undefined });
        stream.on('response', ({ ':status': status }) => {
          if (status !== 200) fail(`status ${status}`);
        });
        stream.on('error', ({ message }) => fail(message)).on('end', onReply);
        stream.resume();
        if (content !== undefined) stream.end(content);
      };
      return { send };
    };
    const opening = Array.from({ length: requests.connections }, async (_, connection) => {
      const session = connect(urlOf(target, requests), { rejectUnauthorized: false });
      sessions.push(session);
      await once(session, 'connect');
      return Array.from({ length: streams }, (__, stream) => channelOf(session, connection * streams + stream));
    });
    const list = (await Promise.all(opening)).flat();
    return { list, close: () => sessions.forEach((session) => session.destroy()) };
  };
}
