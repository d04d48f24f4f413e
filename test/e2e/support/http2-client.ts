import type { Client, Destination } from './client.ts';
import { Http2Channel, inTime, wholeAnswer, type Http2Answer } from './http2-channel.ts';

const keptConnections = 4;

/** A client of HTTP/2. Requests on its kept connections overlap. */
export class Http2Client implements Client {
  readonly cycle = keptConnections;
  private readonly destination: Destination;
  private readonly exchange: (channel: Http2Channel) => Promise<unknown>;
  private readonly held: readonly Http2Channel[];

  /** @param exchange makes one request and rejects where its answer is none that a client can use */
  constructor(destination: Destination, exchange: (channel: Http2Channel) => Promise<unknown>) {
    this.destination = destination;
    this.exchange = exchange;
    this.held = Array.from({ length: keptConnections }, () => new Http2Channel(destination));
  }

  async fresh(): Promise<void> {
    const channel = new Http2Channel(this.destination);
    try {
      await this.exchange(channel);
    } finally {
      channel.close();
    }
  }

  async kept(index: number): Promise<void> {
    await this.exchange(this.held[index % keptConnections] as Http2Channel);
  }

  close(): void {
    for (const channel of this.held) channel.close();
  }
}

/** Gets a page. */
export async function page(channel: Http2Channel): Promise<Http2Answer> {
  const answer = await channel.request({ ':method': 'GET' }, (stream) => wholeAnswer(inTime(stream.end())));
  const status = answer.headers[':status'];
  if (status !== 200) throw new Error(`status ${String(status)}: ${answer.body.toString().split('\n')[1]}`);
  return answer;
}
