import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import process from 'node:process';
import type { Cell } from '../telemetry/index.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export interface Exclusive {
  /** Whether a connection may carry another request, after the response of the last one. */
  readonly isFree: (last: ServerResponse) => boolean;
  /** Counts the further requests, each of which closes its connection. */
  readonly refused: Cell;
  readonly handle: Handle;
}

/**
 * Passes each request of a server to `handle`. Closes connections whose next request arrives before its turn, or is read together with
 * the last one. Node parses all that it reads from a connection, up to 64 KiB, in one go: thousands of small requests on some
 * connections would stop the process for seconds, and use up its memory. The server must be created with `pipelineOptions`.
 */
export function serveExclusively(server: Server, { isFree, refused, handle }: Exclusive): void {
  const responses = new WeakMap<Socket, ServerResponse>();
  /** The connection whose bytes are being parsed. No tick runs between two requests that were read together. */
  let parsed: Socket | undefined;
  const endOfParsing = (): void => {
    parsed = undefined;
  };
  const exclusively =
    (next: Handle): Handle =>
    (request, response) => {
      const { socket } = request;
      const last = responses.get(socket);
      if (parsed === socket || (last !== undefined && !isFree(last))) {
        refused.value += 1;
        endParsing(socket);
        return;
      }
      responses.set(socket, response);
      parsed = socket;
      process.nextTick(endOfParsing);
      if (isWithoutHost(request)) end(response, 400);
      else next(request, response);
    };
  server.on('request', exclusively(handle));
  // Without these two, Node answers such requests itself.
  server.on(
    'checkContinue',
    exclusively((request, response) => {
      response.writeContinue();
      handle(request, response);
    }),
  );
  server.on(
    'checkExpectation',
    exclusively((_request, response) => end(response, 417)),
  );
}

/** Node must not answer requests without a host itself. */
export const pipelineOptions = { requireHostHeader: false } as const;

/** RFC 9112 section 3.2: a request of HTTP/1.1 without a host gets a 400. */
function isWithoutHost({ httpVersion, headers }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === '1.1';
}

function end(response: ServerResponse, code: number): void {
  response.writeHead(code, { connection: 'close', 'content-length': 0 });
  response.end();
}

/** Closes a connection, and ends the parsing of what was read from it. Node does not document its parser; without it, the rest is parsed. */
function endParsing(socket: Socket): void {
  socket.destroy();
  const { parser } = socket as { readonly parser?: { onIncoming: () => number } | null };
  if (parser !== undefined && parser !== null) parser.onIncoming = () => noFurtherRequest;
}

/** Tells the parser, after headers, that other bytes than HTTP follow. */
const noFurtherRequest = 2;
