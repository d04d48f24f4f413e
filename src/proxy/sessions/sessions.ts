import { hash } from 'node:crypto';
import type { Session } from '../../core/routing/config.ts';
import type { Fields } from '../../core/text/fields.ts';
import type { Endpoint, EndpointSet } from '../upstream/endpoints.ts';
import { SessionKeys, type SessionKey, type SessionKeyMaterial } from './session-keys.ts';
import { openToken, sealToken, type Assignment, type SessionState } from './token.ts';
import { nameKey } from '../../core/text/fields.ts';
import { wallNow } from '../../time/clock.ts';

/** A client may send several cookies of one name, with different paths (RFC 6265 section 5.4). More of them are ignored. */
const maxTokens = 4;

/**
 * What becomes of the session of a request; the fixed label set of the metric.
 *
 * - `honored`: the request goes to the endpoint of the session.
 * - `endpoint-gone`: that endpoint is gone or suspended, so another one is chosen.
 * - `expired`, `invalid`: the client sent such a token, and no valid one for the backend.
 * - `new`: the client sent no token, or a valid one that has no endpoint of the backend.
 */
export const sessionOutcomes = ['honored', 'endpoint-gone', 'expired', 'invalid', 'new'] as const;
export type SessionOutcome = (typeof sessionOutcomes)[number];

/** The fields of a request that carry sessions. */
interface SessionRequest {
  readonly fields: Fields;
  /** Lower-case names of `fields`, at half their index. */
  readonly names: readonly string[];
}

/**
 * Session persistence without state: the token of a client names the endpoint of each backend that it is assigned to. So sessions are
 * valid for all replicas that share the keys, and after restarts.
 */
export class Sessions {
  private readonly keys = new SessionKeys();
  private readonly counts: Record<SessionOutcome, number>;
  private readonly now: () => number;

  /**
   * @param counts counts the requests with session persistence
   * @param now milliseconds since 1970
   */
  constructor(counts: Record<SessionOutcome, number>, now: () => number = wallNow) {
    this.counts = counts;
    this.now = now;
  }

  setKeys(keys: readonly SessionKeyMaterial[]): void {
    this.keys.replace(keys);
  }

  /**
   * Reads the session of a request with a backend, which was chosen by weight before. `undefined` if there are no keys yet: the
   * request is served without persistence.
   *
   * @param backend the configuration key of its endpoints
   */
  open(terms: Session, request: SessionRequest, backend: string): ClientSession | undefined {
    const now = this.now();
    const key = this.keys.current(now);
    if (key === undefined) return undefined;
    const place: SessionPlace = { terms, now, backend: idOf(backend) };
    return new ClientSession({ ...place, key, counts: this.counts, ...this.read(place, request) });
  }

  private read({ terms, now, backend }: SessionPlace, request: SessionRequest): ReadTokens {
    let newest: Omit<ReadTokens, 'lack'> = { known: { used: 0, assignments: [] }, knownKey: undefined };
    let lack: ReadTokens['lack'] = 'new';
    // A client may send several cookies of one name, from former paths (RFC 6265, section 5.4).
    for (const token of tokensIn(terms, request)) {
      const opened = openToken(token, terms.identity, this.keys);
      if (opened === undefined) {
        if (lack === 'new') lack = 'invalid';
        continue;
      }
      const isIdle = now - opened.state.used > (terms.idleTimeout ?? Infinity);
      // XBackends can share a cookie: the timeout of this backend does not apply to others.
      const assignments = opened.state.assignments.filter(
        (one) => now < (one.backend === backend ? endOf(one.started, terms) : one.ends),
      );
      if (isIdle || assignments.length < opened.state.assignments.length) lack = 'expired';
      if (isIdle) continue;
      if (newest.knownKey === undefined || opened.state.used > newest.known.used)
        newest = { known: { ...opened.state, assignments }, knownKey: opened.key };
    }
    return { ...newest, lack };
  }
}

/** The content of the client's tokens. */
interface ReadTokens {
  /** Of the newest valid one. */
  readonly known: SessionState;
  /** `undefined` without a valid token. */
  readonly knownKey: SessionKey | undefined;
  /** Why no token may have an endpoint of the backend. */
  readonly lack: 'expired' | 'invalid' | 'new';
}

/** The backend whose session a request has. */
interface SessionPlace {
  readonly terms: Session;
  readonly now: number;
  readonly backend: string;
}

interface SessionParts extends ReadTokens, SessionPlace {
  /** The key for new tokens. */
  readonly key: SessionKey;
  readonly counts: Record<SessionOutcome, number>;
}

/** The session of one request with its backend. */
export class ClientSession {
  private readonly parts: SessionParts;
  private isCounted = false;

  constructor(parts: SessionParts) {
    this.parts = parts;
  }

  /**
   * The endpoint that the client is assigned to. `undefined` if there is none, or if it is gone, suspended or has been tried. Counts the
   * request at its first attempt.
   */
  endpointIn(endpoints: EndpointSet, tried: readonly Endpoint[], now: number): Endpoint | undefined {
    const wanted = this.assigned()?.endpoint;
    const found = wanted === undefined ? undefined : endpointsById(endpoints).get(wanted);
    const endpoint = found === undefined || tried.includes(found) || found.isSuspended(now) ? undefined : found;
    this.count(wanted, endpoint);
    return endpoint;
  }

  private count(wanted: string | undefined, endpoint: Endpoint | undefined): void {
    if (this.isCounted) return;
    this.isCounted = true;
    const { counts, lack } = this.parts;
    if (endpoint !== undefined) counts.honored += 1;
    else counts[wanted === undefined ? lack : 'endpoint-gone'] += 1;
  }

  /** The response fields that keep the client at an endpoint; none if the client's token already does. */
  fieldsFor(endpoint: Endpoint, scheme: 'http' | 'https'): readonly string[] {
    const { terms, now, key, backend, known, knownKey } = this.parts;
    const own = this.assigned();
    const id = idOfEndpoint(endpoint);
    const isSame = own?.endpoint === id;
    const isIdleRenewed = terms.idleTimeout === undefined || known.used >= now;
    if (isSame && knownKey === key && isIdleRenewed) return [];
    const started = isSame ? own.started : now;
    const assignments = [
      ...known.assignments.filter((one) => one.backend !== backend),
      { backend, endpoint: id, started, ends: endOf(started, terms) },
    ];
    const token = sealToken({ used: now, assignments }, terms.identity, key);
    if (terms.type === 'header') return [terms.name, token];
    return ['set-cookie', cookieOf(terms, token, { scheme, lifetime: lifetimeOf(terms, assignments, now) })];
  }

  private assigned(): Assignment | undefined {
    return this.parts.known.assignments.find(({ backend }) => backend === this.parts.backend);
  }
}

/**
 * Secure by default (GEP-1619, "Secure, HttpOnly, SameSite"). Browsers ignore Secure cookies that arrive without TLS. Only permanent
 * cookies may have Max-Age.
 */
function cookieOf(
  { name, path }: Extract<Session, { readonly type: 'cookie' }>,
  token: string,
  { scheme, lifetime }: { readonly scheme: 'http' | 'https'; readonly lifetime: number | undefined },
): string {
  const age = lifetime === undefined ? '' : `; Max-Age=${Math.ceil(lifetime / 1_000)}`;
  return `${name}=${token}; Path=${path}${age}; HttpOnly; SameSite=Strict${scheme === 'https' ? '; Secure' : ''}`;
}

/** The rest of the longest session in milliseconds, for a permanent cookie. */
function lifetimeOf(
  { permanent }: Extract<Session, { readonly type: 'cookie' }>,
  assignments: readonly Assignment[],
  now: number,
): number | undefined {
  const ends = assignments.map((one) => one.ends).filter((one) => one !== Infinity);
  return permanent && ends.length > 0 ? Math.max(...ends) - now : undefined;
}

function endOf(started: number, { absoluteTimeout = Infinity }: Session): number {
  return started + absoluteTimeout;
}

function* tokensIn(terms: Session, { fields, names }: SessionRequest): Iterable<string> {
  const wanted = terms.type === 'cookie' ? 'cookie' : nameKey(terms.name);
  let left = maxTokens;
  for (const [index, name] of names.entries()) {
    if (name !== wanted) continue;
    const value = fields[index * 2 + 1] ?? '';
    for (const token of terms.type === 'cookie' ? cookiesNamed(terms.name, value) : [value]) {
      if (left === 0) return;
      left -= 1;
      yield token;
    }
  }
}

/** The values of cookies with a name in a Cookie field (RFC 6265 section 4.2.1). Searches for the name: a client can send thousands of other cookies. */
function* cookiesNamed(name: string, value: string): Iterable<string> {
  const start = `${name}=`;
  for (let from = 0, at = value.indexOf(start); at !== -1; at = value.indexOf(start, from)) {
    const before = value.slice(from, at);
    const semicolon = before.lastIndexOf(';');
    const isCookie = (from === 0 || semicolon !== -1) && before.slice(semicolon + 1).trim() === '';
    from = at + start.length;
    if (!isCookie) continue;
    const end = value.indexOf(';', from);
    const token = value.slice(from, end === -1 ? undefined : end);
    from += token.length;
    yield token.trimEnd();
  }
}

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Eight bytes of a hash in base64url: short, and the same on all replicas. The last one of its eleven characters has four bits of them. Without
 * a buffer for each hash, the index of thousands of endpoints takes a third of the time.
 */
function idOf(text: string): string {
  const all = hash('sha256', text, 'base64url');
  return all.slice(0, 10) + base64url.charAt(base64url.indexOf(all.charAt(10)) & 0b11_1100);
}

/** The property of an endpoint with its identifier. A WeakMap with thousands of entries takes time of the garbage collection. */
const identifier = Symbol('identifier');

interface Identified extends Endpoint {
  [identifier]?: string;
}

function idOfEndpoint(endpoint: Identified): string {
  return (endpoint[identifier] ??= idOf(endpoint.address));
}

const indexes = new WeakMap<EndpointSet, ReadonlyMap<string, Endpoint>>();

/** Computed once per set, and only for backends of rules with sessions. */
function endpointsById(endpoints: EndpointSet): ReadonlyMap<string, Endpoint> {
  const known = indexes.get(endpoints);
  if (known !== undefined) return known;
  const index = new Map(endpoints.all().map((endpoint) => [idOfEndpoint(endpoint), endpoint]));
  indexes.set(endpoints, index);
  return index;
}
