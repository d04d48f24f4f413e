import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { patience, type Client, type Destination } from './client.ts';

const keptConnections = 9;

/** A connection that sends lines and takes the answer of each, one after the other. */
class Conversation {
  private readonly socket: Socket;
  private received = '';
  private waiting: { readonly resolve: (line: string) => void; readonly reject: (error: Error) => void } | undefined;
  private end: Error | undefined;

  constructor({ address, port, host, authorities }: Destination) {
    this.socket =
      authorities === undefined
        ? connect({ host: address, port })
        : connectTls({ host: address, port, servername: host, secureContext: authorities });
    this.socket.setEncoding('utf8').on('data', (text: string) => this.take(text));
    this.socket
      .on('error', (error) => this.stop(error))
      .on('end', () => this.stop(new Error('the connection was ended')))
      .on('close', () => this.stop(new Error('the connection was closed')));
  }

  /** Whether the other side has ended the connection. */
  get isOver(): boolean {
    return this.end !== undefined;
  }

  ask(line: string): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.end !== undefined) {
        reject(this.end);
        return;
      }
      const timer = setTimeout(() => this.stop(new Error('no answer in time')), patience);
      this.waiting = {
        resolve: (answer) => {
          clearTimeout(timer);
          resolve(answer);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      this.socket.write(`${line}\n`);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private take(text: string): void {
    this.received += text;
    const end = this.received.indexOf('\n');
    if (end < 0) return;
    const line = this.received.slice(0, end);
    this.received = this.received.slice(end + 1);
    this.waiting?.resolve(line);
    this.waiting = undefined;
  }

  private stop(error: Error): void {
    this.end ??= error;
    this.waiting?.reject(error);
    this.waiting = undefined;
    this.socket.destroy();
  }
}

/** Sends a line on a connection of its own. Gives the answer. */
export async function askStream(destination: Destination, line = 'who'): Promise<string> {
  const conversation = new Conversation(destination);
  try {
    return await conversation.ask(line);
  } finally {
    conversation.close();
  }
}

/** A client of TCP, or of TLS where there are authorities. A kept connection that ends is a loss. */
export class StreamClient implements Client {
  /** Every fourth request is on a connection of its own. */
  readonly cycle = keptConnections * 4;
  private readonly destination: Destination;
  private readonly conversations: { conversation: Conversation | undefined; last: Promise<void> }[] = Array.from(
    { length: keptConnections },
    () => ({ conversation: undefined, last: Promise.resolve() }),
  );

  constructor(destination: Destination) {
    this.destination = destination;
  }

  async fresh(index: number): Promise<void> {
    expectEcho(await askStream(this.destination, String(index)), index);
  }

  async kept(index: number): Promise<void> {
    const slot = this.conversations[index % keptConnections];
    if (slot === undefined) throw new Error('no slot');
    const { last } = slot;
    const turn = Promise.withResolvers<void>();
    slot.last = turn.promise;
    await last;
    const conversation = (slot.conversation ??= new Conversation(this.destination));
    try {
      expectEcho(await conversation.ask(String(index)), index);
    } finally {
      if (conversation.isOver) slot.conversation = undefined;
      turn.resolve();
    }
  }

  close(): void {
    for (const { conversation } of this.conversations) conversation?.close();
  }
}

function expectEcho(answer: string, index: number): void {
  if (!answer.endsWith(` ${index}`)) throw new Error(`another answer: ${answer}`);
}
