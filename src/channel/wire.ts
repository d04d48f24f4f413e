import { isRecord } from '../core/text/record.ts';
import { expand } from './bundles.ts';
import type { ResourceProblem, ToController, ToProxy } from './messages.ts';

/** The path at which the stream is opened, with POST. */
export const channelPath = '/v1/configuration';

/** Request header fields besides `authorization`. */
export const fields = { gateway: 'sallyport-gateway', proxy: 'sallyport-proxy' } as const;

/** Maximum length of the lines of a stream, in bytes. */
export interface LineLimits {
  readonly first: number;
  readonly others: number;
}

/**
 * A new proxy gets its complete configuration in one line. A proxy is trusted less: only its first line, the hello, names everything that it
 * holds. An acknowledgement is at most as long as six times `maxProblemCharacters`, because JSON may escape each character.
 */
export const longestLines = {
  toProxy: { first: 256 * 2 ** 20, others: 256 * 2 ** 20 },
  toController: { first: 16 * 2 ** 20, others: 4 * 2 ** 20 },
} as const satisfies Readonly<Record<string, LineLimits>>;

/**
 * Maximum number of values in a message of a proxy. Values of few bytes take many times their length in memory, and all of them are read
 * in one turn. The largest configuration has fewer resources.
 */
const mostValues = 250_000;

/** Maximum number of characters of all problems in an acknowledgement. */
export const maxProblemCharacters = 512 * 1024;

/** The other end violates the protocol. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

export function encodeLine(message: ToProxy | ToController): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * A line that is taken out once. A loop over lines holds the last one until the next one arrives, perhaps for hours, and a line may have
 * many megabytes.
 */
export class Line {
  readonly length: number;
  private text: string;

  constructor(text: string) {
    this.text = text;
    this.length = text.length;
  }

  take(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}

/**
 * Splits a stream of bytes into lines without their line ends. An incomplete last line is dropped.
 *
 * @param onHeld called with the bytes of the line that is incomplete or in use, each time this number changes. May throw.
 * @throws ProtocolError if a line is longer than its limit
 */
export async function* readLines(
  stream: AsyncIterable<Buffer>,
  { first, others }: LineLimits,
  onHeld: (bytes: number) => void = () => undefined,
): AsyncGenerator<Line> {
  let longest = first;
  const begun = new BegunLine();
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      const part = chunk.subarray(start, end);
      if (begun.length + part.length > longest) throw tooLong(longest);
      onHeld(begun.length + part.length);
      yield begun.endWith(part);
      onHeld(0);
      longest = others;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    begun.add(chunk.subarray(start));
    if (begun.length > longest) throw tooLong(longest);
    onHeld(begun.length);
  }
}

/** The first bytes of a line. Copies them: a piece of one byte takes hundreds of bytes, and may keep the buffer that it was read into. */
class BegunLine {
  length = 0;
  private bytes = Buffer.alloc(0);

  add(piece: Buffer): void {
    const length = this.length + piece.length;
    if (length > this.bytes.length) {
      const more = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.bytes.length));
      this.bytes.copy(more, 0, 0, this.length);
      this.bytes = more;
    }
    piece.copy(this.bytes, this.length);
    this.length = length;
  }

  /** Returns the line that ends with this piece, and begins another one. */
  endWith(piece: Buffer): Line {
    if (this.length === 0) return new Line(piece.toString('utf8'));
    this.add(piece);
    const line = new Line(this.bytes.toString('utf8', 0, this.length));
    this.length = 0;
    this.bytes = Buffer.alloc(0);
    return line;
  }
}

const lineFeed = 0x0a;

function tooLong(longest: number): ProtocolError {
  return new ProtocolError(`a line is longer than ${longest} bytes`);
}

/**
 * Parses a line from a proxy. Returns `undefined` for a message type of a later version.
 *
 * @throws ProtocolError for any other line that does not match `ToController`
 */
export function parseToController(line: string): ToController | undefined {
  if (mayHaveMoreValues(line, mostValues)) throw new ProtocolError(`a message has more than ${mostValues} values`);
  const message = parseObject(line);
  const { type } = message;
  switch (type) {
    case 'hello': {
      const { digests, capabilities = [] } = message;
      if (!isRecord(digests) || !Object.values(digests).every(isString)) throw malformed(type);
      if (!Array.isArray(capabilities) || !capabilities.every(isString)) throw malformed(type);
      return { type, digests: digests as Record<string, string>, capabilities };
    }
    case 'acknowledge': {
      const { id, problems } = message;
      if (!isId(id) || !Array.isArray(problems) || !problems.every(isProblem)) throw malformed(type);
      return { type, id, problems };
    }
    default:
      return unknownType(type);
  }
}

/**
 * Parses a line from a controller, which is trusted regarding the content of resources. Returns `undefined` for a
 * message type of a later version.
 *
 * @throws ProtocolError for any other line that does not match `ToProxy`
 */
export function parseToProxy(line: string): ToProxy | undefined {
  const message = parseObject(line);
  const { type, id } = message;
  switch (type) {
    case 'end':
      if (!isId(id)) throw malformed(type);
      return { type, id };
    case 'transaction': {
      const { upserts, removals } = message;
      if (
        !isId(id) ||
        !Array.isArray(upserts) ||
        !upserts.every(isUpsert) ||
        !Array.isArray(removals) ||
        !removals.every(isString)
      )
        throw malformed(type);
      const originals = upserts.flatMap((upsert) => expand(upsert, message['bundles']) ?? []);
      if (originals.length < upserts.length) throw malformed(type);
      return { type, id, upserts: originals, removals };
    }
    default:
      return unknownType(type);
  }
}

/** Counts the characters before a value, without reading the JSON. Those in texts count, too. */
function mayHaveMoreValues(line: string, most: number): boolean {
  if (line.length <= most) return false;
  let values = 0;
  for (let index = 0; index < line.length && values <= most; index += 1) {
    const code = line.charCodeAt(index);
    if (code === comma || code === bracket || code === brace) values += 1;
  }
  return values > most;
}

const comma = 0x2c;
const bracket = 0x5b;
const brace = 0x7b;

function unknownType(type: unknown): undefined {
  if (typeof type !== 'string') throw new ProtocolError('a message has no type');
  return undefined;
}

/** Never quotes the line: it may contain keys. */
function malformed(type: string): ProtocolError {
  return new ProtocolError(`a message of type ${type} is malformed`);
}

function parseObject(line: string): Readonly<Record<string, unknown>> {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    throw new ProtocolError('a line is not JSON');
  }
  if (!isRecord(json)) throw new ProtocolError('a line is not a JSON object');
  return json;
}

function isString(json: unknown): json is string {
  return typeof json === 'string';
}

function isId(json: unknown): json is number {
  return Number.isSafeInteger(json);
}

function isProblem(json: unknown): json is ResourceProblem {
  return isRecord(json) && isString(json['key']) && isString(json['message']);
}

function isUpsert(json: unknown): json is Extract<ToProxy, { type: 'transaction' }>['upserts'][number] {
  return (
    isRecord(json) &&
    isString(json['digest']) &&
    isRecord(json['resource']) &&
    isString(json['resource']['key']) &&
    isString(json['resource']['kind'])
  );
}
