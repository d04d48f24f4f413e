/** A request as a parser read it: fields and trailers as names and values in turn. */
export interface ReadRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly fields: readonly string[];
  readonly body: string;
  readonly trailers: readonly string[];
}

/** The parser of Node in C, llhttp, by the names that Node has for it; the types of Node leave it out. */
interface Parser {
  initialize(type: number, resource: object, maxHeaderSize: number, lenient: number): void;
  execute(bytes: Buffer): number | Error;
  finish(): Error | undefined;
  close(): void;
  [callback: number]: unknown;
}
interface Internals {
  readonly methods: readonly string[];
  readonly HTTPParser: {
    new (): Parser;
    readonly REQUEST: number;
    readonly kOnHeaders: number;
    readonly kOnHeadersComplete: number;
    readonly kOnBody: number;
    readonly kOnMessageComplete: number;
    readonly kLenientNone: number;
  };
}

const { HTTPParser, methods } = process.getBuiltinModule('node:_http_common') as unknown as Internals;

/**
 * The one request in the bytes, as llhttp in strict mode reads it. Text where it does not: an error, several requests, or an
 * incomplete one. `upgrade` for a request after which llhttp expects another protocol.
 */
export function readByLlhttp(pieces: readonly Buffer[]): ReadRequest | string {
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {}, 64 * 1024, HTTPParser.kLenientNone);
  let head: Omit<ReadRequest, 'body' | 'trailers'> | undefined;
  let [url, body, completed, isUpgrade] = ['', '', 0, false];
  let pairs: string[] = [];
  let trailers: readonly string[] = [];
  // Long sections come in parts, each with a part of the target.
  parser[HTTPParser.kOnHeaders] = (more: readonly string[], part: string): void => {
    pairs.push(...more);
    url += part;
  };
  parser[HTTPParser.kOnHeadersComplete] = (...about: readonly unknown[]): number => {
    const [major, minor, fields, method, target, , , upgrade] = about as [
      ...[number, number, readonly string[] | undefined, number, string | undefined],
      ...[unknown, unknown, boolean],
    ];
    head = {
      method: methods[method] ?? '',
      target: target ?? url,
      version: `${major}.${minor}`,
      fields: fields ?? pairs,
    };
    pairs = [];
    isUpgrade = upgrade;
    return 0;
  };
  parser[HTTPParser.kOnBody] = (data: Buffer): void => void (body += data.toString('latin1'));
  parser[HTTPParser.kOnMessageComplete] = (): void => {
    completed += 1;
    trailers = pairs;
  };
  let problem: string | undefined;
  for (const piece of pieces) {
    const result = parser.execute(piece);
    if (isUpgrade) break;
    if (result instanceof Error) problem ??= result.message;
  }
  problem ??= isUpgrade ? undefined : parser.finish()?.message;
  parser.close();
  if (isUpgrade) return 'upgrade';
  if (problem !== undefined) return `an error: ${problem}`;
  return head === undefined || completed !== 1 ? `${completed} requests` : { ...head, body, trailers };
}
