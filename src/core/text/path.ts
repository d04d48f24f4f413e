import { quote } from './display.ts';

// Characters of a path besides "/": RFC 3986 pchar; percent signs only as part of a triplet.
const legalPath = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})+$/;

/** Matches almost every path: one without encoded characters. */
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
    problem: (value) =>
      `it contains ${illegalPart(value)}. Percent-encode other characters, for example %20 for a space`,
  },
];

/**
 * The problems of `value` as an Exact or PathPrefix path (Gateway API HTTPPathMatch), each with the fix. Empty if it is
 * valid. Does not validate a RegularExpression.
 */
export function pathProblems(value: string): readonly string[] {
  if (plainPath.test(value) && !value.includes('//') && !value.includes('/.')) return [];
  if (value === '') return ['it is empty. Use "/" to match every path'];
  return pathRules.filter(({ broken }) => broken(value)).map(({ problem }) => problem(value));
}

/** Normalizes to one slash at the start and between segments. */
function plainSlashes(value: string): string {
  return `/${value}`.replace(/\/{2,}/g, '/');
}

function illegalPart(value: string): string {
  const found = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/%#?]/u.exec(value)?.[0] ?? '';
  return found === '%' ? 'a "%" without two hexadecimal digits after it' : `the character ${quote(found)}`;
}

/**
 * Whether a (normalized) request path is covered by a PathPrefix value, segment by segment: `/foo` and `/foo/` cover `/foo`,
 * `/foo/` and `/foo/bar`, not `/foobar`. Case-sensitive.
 */
export function hasPathPrefix(path: string, prefix: string): boolean {
  const stem = withoutFinalSlash(prefix);
  return path.startsWith(stem) && (path.length === stem.length || path[stem.length] === '/');
}

/** Returns the path itself and each prefix of it that ends before a slash, longest first: the values that cover it, except `/`. */
export function pathPrefixes(path: string): readonly string[] {
  const prefixes: string[] = [];
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) prefixes.push(path.slice(0, end));
  return prefixes;
}

/**
 * Replaces the matched prefix of a path according to the table at HTTPPathModifier.replacePrefixMatch: trailing slashes of
 * prefix and replacement are ignored, and the result starts with exactly one slash. The path must be covered by the prefix.
 */
export function replacePathPrefix(path: string, prefix: string, replacement: string): string {
  const replaced = withoutFinalSlash(replacement) + path.slice(withoutFinalSlash(prefix).length);
  return replaced.startsWith('/') ? replaced : `/${replaced}`;
}

function withoutFinalSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** A normalized path, or the reason why it has none. */
export type NormalizedPath =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly problem: string };

const unreserved = /^[A-Za-z0-9\-._~]$/;
const neverInPath = /[^\x21-\x7e]|[#?]/;
const brokenTriplet = /%(?![0-9A-Fa-f]{2})/;

/**
 * Normalizes the path of a request (without query) for matching and forwarding, according to RFC 3986 section 6.2.2:
 * percent-encoded unreserved characters are decoded, other triplets are in upper case (an encoded slash stays encoded and is
 * not a separator), characters that are not allowed in a path are encoded, and dot segments are resolved. Empty segments
 * remain: `//` is not `/`. Fails for relative paths and for paths with spaces, control characters, non-ASCII characters or a
 * stray percent sign. Idempotent.
 */
export function normalizePath(path: string): NormalizedPath {
  if (plainPath.test(path)) return { ok: true, path: withoutDotSegments(path) };
  if (!path.startsWith('/')) return { ok: false, problem: 'the path does not start with "/"' };
  if (neverInPath.test(path))
    return { ok: false, problem: 'the path contains a character that must be percent-encoded' };
  if (brokenTriplet.test(path))
    return { ok: false, problem: 'the path contains a "%" without two hexadecimal digits after it' };
  return { ok: true, path: withoutDotSegments(canonicalSpelling(path)) };
}

/**
 * The spelling of a path match for comparison with normalized requests: encoded as by `normalizePath`, with dot segments
 * unchanged. A match with dot segments, encoded or not, never matches, rather than matching another path.
 */
export function canonicalSpelling(path: string): string {
  if (plainPath.test(path)) return path;
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

/** RFC 3986 section 5.2.4. Segments above the root resolve to the root. */
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
