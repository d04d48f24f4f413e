import type { IncomingMessage } from 'node:http';
import { limitPieces } from '../core/text/pieces.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import { readChunks } from './chunks.ts';
import { createDeadline } from './deadline.ts';
import type { Credentials } from './credentials.ts';
import { ApiError, apiError, ConnectionError, messageOf, ProtocolError, ResponseTooLongError } from './errors.ts';
import { IncompleteResponses } from './incomplete-responses.ts';
import { longestResponse } from './limits.ts';
import { readJsonLines } from './lines.ts';
import type { ReadingPace } from './reading-pace.ts';
import { Transport, type Access } from './transport.ts';

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the server's URL, escaped (see `pathOf`). */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** `application/json` by default. Patches have their own types. */
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole response, or for the head of a stream, once the credentials are loaded. Default: 30 seconds. */
  readonly timeout?: number;
  /** Characters of the response, at most. Default: `longestResponse`. */
  readonly longest?: number;
  /** Called with the characters of the response when it is complete, before they are parsed. Not for streams. */
  readonly onText?: (characters: number) => void;
  /** When a stream is read. Without it, as it arrives. */
  readonly pace?: ReadingPace | undefined;
}

/** Sends requests to one API server over one shared connection pool. */
export interface ApiClient {
  /** The namespace in the credentials. */
  readonly namespace: string | undefined;
  /**
   * @returns the parsed JSON body of the response
   * @throws ApiError for a status of 400 or above, ConnectionError if no response arrived, ProtocolError if the body is not valid
   * JSON, ResponseTooLongError if it has more than `longest` characters or all incomplete responses have too many, the reason of `signal` if that is aborted
   */
  request(request: ApiRequest): Promise<unknown>;
  /** Yields the values of a response with one JSON value per line, as they arrive. @throws as `request` does, also while it is read */
  stream(request: ApiRequest): AsyncGenerator<readonly unknown[], void, void>;
  /** Aborts all requests in flight and closes the connections. */
  close(): Promise<void>;
}

/** Creates a client. It connects with the first request. */
export function createClient(credentials: Credentials, clock: Clock = systemClock): ApiClient {
  return new Client(credentials, clock);
}

const defaultTimeout = 30_000;

class Client implements ApiClient {
  readonly namespace: string | undefined;
  private readonly transport: Transport;
  private readonly clock: Clock;
  private readonly incomplete = new IncompleteResponses();

  constructor(credentials: Credentials, clock: Clock) {
    this.namespace = credentials.namespace;
    this.transport = new Transport(credentials, clock);
    this.clock = clock;
  }

  async request(request: ApiRequest): Promise<unknown> {
    const access = await this.open(request);
    const deadline = this.deadlineOf(request);
    try {
      const response = await this.send(access, request, deadline.signal);
      const text = await this.textOf(response, request.longest);
      request.onText?.(text.length);
      return parse(text);
    } catch (error) {
      throw explain(error, deadline.signal);
    } finally {
      deadline.clear();
    }
  }

  async *stream(request: ApiRequest): AsyncGenerator<readonly unknown[], void, void> {
    const access = await this.open(request);
    const deadline = this.deadlineOf(request);
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, ...(request.signal === undefined ? [] : [request.signal])]);
    const forward = () => controller.abort(deadline.signal.reason);
    deadline.signal.addEventListener('abort', forward);
    try {
      const response = await this.send(access, request, signal);
      // From here on the reader decides how long it waits.
      deadline.clear();
      yield [];
      yield* readJsonLines(readChunks(response, request.pace), { onHeld: this.incomplete.follow(response) });
    } catch (error) {
      throw explain(error, signal);
    } finally {
      deadline.clear();
      controller.abort();
    }
  }

  async close(): Promise<void> {
    this.transport.close();
  }

  /** The time of a request begins afterwards: the plugin of a kubeconfig may wait until a user has logged in. */
  private async open({ signal }: ApiRequest): Promise<Access> {
    try {
      return await this.transport.open();
    } catch (error) {
      throw explain(error, signal);
    }
  }

  private deadlineOf({ timeout = defaultTimeout, signal, method = 'GET', path }: ApiRequest) {
    return createDeadline(
      this.clock,
      timeout,
      () => new ConnectionError(`no answer to ${method} ${path} within ${timeout} ms`),
      signal,
    );
  }

  /**
   * Reads a body to its end. An iterator would cost several times as much, for a body that arrives in one or two chunks.
   *
   * @throws ResponseTooLongError
   */
  private textOf(response: IncomingMessage, longest = longestResponse): Promise<string> {
    const hold = this.incomplete.follow(response);
    return new Promise((resolve, reject) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        if (text.length + chunk.length > longest)
          response.destroy(new ResponseTooLongError(`a response of more than ${longest} characters`));
        else text += chunk;
        hold(text.length);
      });
      response.on('end', () => resolve(text));
      response.on('error', reject);
      response.on('close', () => {
        if (!response.readableEnded) reject(new Error('the connection was closed within a response'));
      });
    });
  }

  /** @throws ApiError */
  private async send(access: Access, request: ApiRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const {
      method = 'GET',
      path,
      query = {},
      body,
      contentType = 'application/json',
      accept = 'application/json',
    } = request;
    const response = await this.transport.send(access, {
      path: path + formatQuery(query),
      method,
      headers: {
        accept,
        'user-agent': 'sallyport',
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
    limitPieces(response, () =>
      response.destroy(new ProtocolError('the API server sent a response in too many pieces')),
    );
    const { statusCode = 0, headers } = response;
    if (statusCode < 400) return response;
    const retryAfter = headers['retry-after'];
    throw apiError(
      statusCode,
      parseLeniently(await this.textOf(response)),
      typeof retryAfter === 'string' ? retryAfter : undefined,
    );
  }
}

function formatQuery(query: NonNullable<ApiRequest['query']>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProtocolError('the API server sent a response that is not valid JSON');
  }
}

/** Proxies in front of the API server may send errors in their own format. */
function parseLeniently(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text.slice(0, 200) };
  }
}

/** Converts an error to one of the types that callers distinguish. */
function explain(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof ApiError || error instanceof ProtocolError || error instanceof ConnectionError) return error;
  return new ConnectionError(`the API server cannot be reached: ${messageOf(error)}`, { cause: error });
}
