import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Logger } from '../telemetry/index.ts';
import { announceBundles } from './bundles.ts';
import { keepAlive } from './heartbeat.ts';
import type { ConfigurationSink } from './sink.ts';
import { channelPath, encodeLine, fields, longestLines, parseToProxy, readLines, type Line } from './wire.ts';

export interface ConnectOptions {
  /** `host:port` of the controller. The host must match its certificate. */
  readonly address: string;
  /** `namespace/name` of the Gateway to serve. */
  readonly gateway: string;
  /** The name of this proxy in the controller's status and logs (pod name). */
  readonly name: string;
  /** The trusted certificate authorities, PEM. Read before each connection, like the token. */
  readonly authorities: () => Promise<string>;
  readonly token: () => Promise<string>;
  readonly sink: ConfigurationSink;
  readonly log: Logger;
  readonly pace?: Partial<ConnectPace>;
}

/** Milliseconds. */
export interface ConnectPace {
  /** Between heartbeats. */
  readonly heartbeat: number;
  /** Timeout of the controller's response. */
  readonly patience: number;
  /** Before the first reconnect. Doubled after each failure, up to `longestPause`. */
  readonly pause: number;
  readonly longestPause: number;
}

const defaultPace: ConnectPace = { heartbeat: 10_000, patience: 10_000, pause: 200, longestPause: 5_000 };

export interface ChannelConnection {
  /** Whether a controller is connected now. */
  readonly isConnected: boolean;
  /** Ends the connection permanently. The sink's configuration stays in force. */
  close(): Promise<void>;
}

/** Keeps a sink connected to its controller until `close`. Reconnects whenever the connection is lost or rejected. */
export function connectChannel(options: ConnectOptions): ChannelConnection {
  return new Connection(options);
}

class Connection implements ChannelConnection {
  private readonly options: ConnectOptions;
  private readonly pace: ConnectPace;
  private readonly closing = new AbortController();
  private readonly done: Promise<void>;
  private connected = false;

  constructor(options: ConnectOptions) {
    this.options = options;
    this.pace = { ...defaultPace, ...options.pace };
    this.done = this.run();
  }

  get isConnected(): boolean {
    return this.connected;
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.done;
  }

  private async run(): Promise<void> {
    const { address: controller, gateway, log } = this.options;
    const { signal } = this.closing;
    let failures = 0;
    while (!signal.aborted) {
      let wasSynchronised = false;
      try {
        await this.attempt(() => {
          wasSynchronised = true;
        });
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        if (!signal.aborted)
          log.warn(
            { controller, gateway, problem },
            'no connection to the controller, the current configuration stays in effect',
          );
      }
      // A connection that ends before the whole configuration has arrived may end so again, and each costs the controller all of it.
      failures = wasSynchronised ? 0 : failures + 1;
      await pauseFor(this.pauseAfter(failures), signal);
    }
  }

  /** Runs one connection from start to end. */
  private async attempt(onSynchronised: () => void): Promise<void> {
    const { address, authorities, token } = this.options;
    const [ca, proof] = await Promise.all([authorities(), token()]);
    if (this.closing.signal.aborted) return;
    const session = connect(`https://${address}`, {
      ca,
      minVersion: 'TLSv1.2',
      settings: { enablePush: false, initialWindowSize: windowSize },
    });
    const stop = (): void => session.destroy();
    this.closing.signal.addEventListener('abort', stop);
    try {
      const stream = await open(session, { ...this.options, token: proof.trim(), patience: this.pace.patience });
      keepAlive(session, this.pace.heartbeat);
      await this.follow(stream, onSynchronised);
    } finally {
      this.closing.signal.removeEventListener('abort', stop);
      session.destroy();
    }
  }

  private async follow(stream: ClientHttp2Stream, onSynchronised: () => void): Promise<void> {
    const { sink, address: controller, gateway, log } = this.options;
    const peer = sink.connect((message) => {
      if (!stream.destroyed && !stream.writableEnded) stream.write(encodeLine(announceBundles(message)));
    });
    // A function of its own, so that no message stays in memory until the next one arrives.
    const take = async (line: Line): Promise<void> => {
      const message = parseToProxy(line.take());
      if (message !== undefined) await peer.receive(message);
      if (message?.type === 'end') onSynchronised();
    };
    this.connected = true;
    log.info({ controller, gateway }, 'connected to the controller');
    try {
      // Reads the next message only after this one is applied: flow control keeps the rest at the controller.
      for await (const line of readLines(stream, longestLines.toProxy)) await take(line);
    } finally {
      this.connected = false;
      peer.close();
    }
    throw new Error('the controller ended the connection');
  }

  /** Adds jitter, so that proxies that lost the same controller do not reconnect at the same time. */
  private pauseAfter(failures: number): number {
    const longest = Math.min(this.pace.pause * 2 ** Math.min(failures, 16), this.pace.longestPause);
    return longest * (0.5 + 0.5 * Math.random());
  }
}

const windowSize = 2 ** 20;

interface Opening extends Pick<ConnectOptions, 'gateway' | 'name'>, Pick<ConnectPace, 'patience'> {
  readonly token: string;
}

/**
 * Opens the stream on a session that may still be connecting.
 *
 * @throws if TLS fails, the controller rejects the request, or does not respond in time
 */
async function open(
  session: ClientHttp2Session,
  { gateway, name, token, patience }: Opening,
): Promise<ClientHttp2Stream> {
  const opened = Promise.withResolvers<ClientHttp2Stream>();
  const timer = setTimeout(() => opened.reject(new Error(`no answer within ${patience} ms`)), patience);
  const fail = (error: Error): void => opened.reject(error);
  session.on('error', fail);
  session.on('close', () => fail(new Error('the connection was closed')));
  try {
    const stream = session.request(
      {
        ':method': 'POST',
        ':path': channelPath,
        [fields.gateway]: gateway,
        [fields.proxy]: name,
        authorization: `Bearer ${token}`,
      },
      { endStream: false },
    );
    stream.on('error', fail);
    stream.once('response', ({ ':status': status }) => {
      if (status === constants.HTTP_STATUS_OK) opened.resolve(stream);
      else fail(new Error(refusals[status ?? 0] ?? `the controller responded with status ${status}`));
    });
    return await opened.promise;
  } finally {
    clearTimeout(timer);
  }
}

const refusals: Readonly<Record<number, string>> = {
  401: 'the controller does not accept the token for this Gateway',
  404: 'the controller does not serve this Gateway (yet)',
  429: 'the data planes of this Gateway have too many connections to the controller',
  503: 'the controller cannot validate the token now',
};

/** Resolves early, without an error, when the signal aborts. */
function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
