import { once } from 'node:events';
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { grpcMessage } from '../messages.ts';
import type { Channel, Channels, OpenChannels } from './exchanges.ts';

/** Bidirectional gRPC streams over cleartext HTTP/2. The backend returns each message. */
export function grpcStreams(connections: number, streams: number, path: string): OpenChannels {
  return async ({ address: { host, port }, name }, eventsOf): Promise<Channels> => {
    const sessions: ClientHttp2Session[] = [];
    const open = async (session: ClientHttp2Session, position: number): Promise<Channel> => {
      const { onReply, onFailure } = eventsOf(position);
      const fail = (reason: string): void => onFailure(new Error(`gRPC stream of ${name}: ${reason}`));
      const stream: ClientHttp2Stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      const response = once(stream, 'response');
      stream.on('error', ({ message }) => fail(message)).on('end', () => fail('closed by the peer'));
      let received = 0;
      stream.on('data', (bytes: Buffer) => {
        received += bytes.length;
        for (; received >= grpcMessage.length; received -= grpcMessage.length) onReply();
      });
      const [fields] = (await response) as [Record<string, unknown>];
      if (fields[':status'] !== 200) throw new Error(`gRPC stream of ${name}: status ${String(fields[':status'])}`);
      return { send: () => void stream.write(grpcMessage) };
    };
    const opening = Array.from({ length: connections }, (_, connection) => {
      const session = connect(`http://${host}:${port}`);
      sessions.push(session);
      return Array.from({ length: streams }, (__, stream) => open(session, connection * streams + stream));
    });
    const list = await Promise.all(opening.flat());
    return { list, close: () => sessions.forEach((session) => session.destroy()) };
  };
}
