import { quote } from './display.ts';

// What a path may hold besides "/": RFC 3986 pchar; percent signs only as part of a triplet.
const legalPath = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})+$/;

/** What almost every path looks like: nothing of it is encoded. */
const plainPath = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/;

interface PathRule {
  readonly broken: (value: string) => boolean;
  readonly problem: (value: string) => string;
}

const pathRules: readonly PathRule[] = [
  {
    broken: (value) => !value.startsWith('/'),
    problem: (value) => `it does not start with "/". Use ${quote(plainSlashes(value))}`,
  },
  {
    broken: (value) => value.includes('//'),
    problem: (value) => `it contains "//". Use ${quote(plainSlashes(value))}`,
  },
  { broken: (value) => value.includes('/./'), problem: () => 'it contains "/./". Remove the "." segment' },
  { broken: (value) => value.includes('/../'), problem: () => 'it contains "/../". Use the path that it resolves to' },
  { broken: (value) => value.endsWith('/.'), problem: () => 'it ends with "/.". Remove the final "."' },
  { broken: (value) => value.endsWith('/..'), problem: () => 'it ends with "/..". Use the path that it resolves to' },
  {
    broken: (value) => /%2f/i.test(value),
    problem: () => 'it contains an encoded slash (%2F), which cannot be matched. Use "/" between segments',
  },
  {
    broken: (value) => value.includes('#'),
    problem: () => 'it contains "#", and clients do not send fragments. Remove the fragment',
  },
  {
    broken: (value) => value.includes('?'),
    problem: () => 'it contains "?", which starts the query. Use queryParams to match query parameters',
  },
  {
    broken: (value) => !legalPath.test(value.replaceAll(/[#?]/g, '')),
    problem: (value) => `it contains ${illegalPart(value)}. Percent-encode other characters, for example %20 for a space`,
  },
];

/**
 * Everything that keeps `value` from being an Exact or PathPrefix path (Gateway API HTTPPathMatch): each problem
 * says what to write instead. Empty for a good one. What a RegularExpression may say is not judged here.
 */
export function pathProblems(value: string): readonly string[] {
  if (plainPath.test(value) && !value.includes('//') && !value.includes('/.')) return [];
  if (value === '') return ['it is empty. Use "/" to match every path'];
  return pathRules.filter(({ broken }) => broken(value)).map(({ problem }) => problem(value));
}

/** One slash at the beginning and between segments. */
function plainSlashes(value: string): string {
  return `/${value}`.replace(/\/{2,}/g, '/');
}

function illegalPart(value: string): string {
  const found = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/%#?]/u.exec(value)?.[0] ?? '';
  return found === '%' ? 'a "%" without two hexadecimal digits after it' : `the character ${quote(found)}`;
}

/**
 * Whether a (normalised) request path lies under a PathPrefix value, segment by segment: `/foo` and `/foo/` hold
 * `/foo`, `/foo/` and `/foo/bar`, not `/foobar`. Case matters.
 */
export function hasPathPrefix(path: string, prefix: string): boolean {
  const stem = withoutFinalSlash(prefix);
  return path.startsWith(stem) && (path.length === stem.length || path[stem.length] === '/');
}

/**
 * The path with the matched prefix replaced, as the table at HTTPPathModifier.replacePrefixMatch demands: slashes
 * at the end of prefix and replacement do not count, the result starts with exactly the one slash it needs.
 * The caller has checked that the path lies under the prefix.
 */
export function replacePathPrefix(path: string, prefix: string, replacement: string): string {
  const replaced = withoutFinalSlash(replacement) + path.slice(withoutFinalSlash(prefix).length);
  return replaced.startsWith('/') ? replaced : `/${replaced}`;
}

function withoutFinalSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** A path in its one spelling, or why it has none. */
export type NormalizedPath =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly problem: string };

const unreserved = /^[A-Za-z0-9\-._~]$/;
const neverInPath = /[^\x21-\x7e]|[#?]/;
const brokenTriplet = /%(?![0-9A-Fa-f]{2})/;

/**
 * Brings the path of a request (without query) into the one spelling that is matched and forwarded, after RFC 3986
 * section 6.2.2: percent-encoded unreserved characters are decoded, other triplets put in upper case (an encoded
 * slash stays encoded and is no separator), characters that no path may hold are encoded, dot segments resolved.
 * Empty segments stay: `//` is not `/`. Fails for what is no absolute path, holds blanks, control characters,
 * non-ASCII characters or a stray percent sign. Normalising twice changes nothing.
 */
export function normalizePath(path: string): NormalizedPath {
  if (plainPath.test(path)) return { ok: true, path: withoutDotSegments(path) };
  if (!path.startsWith('/')) return { ok: false, problem: 'the path does not start with "/"' };
  if (neverInPath.test(path)) return { ok: false, problem: 'the path contains a character that must be percent-encoded' };
  if (brokenTriplet.test(path)) return { ok: false, problem: 'the path contains a "%" without two hexadecimal digits after it' };
  return { ok: true, path: withoutDotSegments(canonicalSpelling(path)) };
}

/**
 * The spelling of a path match that normalised requests can be compared with: encodings as `normalizePath` leaves
 * them, dot segments untouched. A match that holds some, encoded or not, never matches rather than another path.
 */
export function canonicalSpelling(path: string): string {
  return path
    .replace(/%[0-9A-Fa-f]{2}/g, canonicalTriplet)
    .replace(/["<>[\\\]^`{|}]/g, (character) => percentEncoded(character.charCodeAt(0)));
}

function canonicalTriplet(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
  return unreserved.test(character) ? character : triplet.toUpperCase();
}

function percentEncoded(code: number): string {
  return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** RFC 3986 section 5.2.4; going above the root stays at the root. */
function withoutDotSegments(path: string): string {
  if (!path.includes('/.')) return path;
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [position, segment] of segments.entries()) {
    const isLast = position === segments.length - 1;
    if (segment === '..') kept.pop();
    if (segment !== '..' && segment !== '.') kept.push(segment);
    else if (isLast) kept.push('');
  }
  return `/${kept.join('/')}`;
}
