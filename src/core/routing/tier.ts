import { withoutTrailingSlash } from '../graph/precedence.ts';
import type { MatchCondition, RouteRequest } from './match-conditions.ts';
import type { MatchedRoute } from './config.ts';
import { Trie } from './trie.ts';

/** A match of a rule under one of its route's hostnames. */
export interface Entry {
  /** Unique within a listener; see `sortKey` in precedence.ts. */
  readonly sortKey: string;
  readonly hostname: string;
  readonly matched: MatchedRoute;
  readonly conditions: readonly MatchCondition[];
}

/** Entries that only their sort keys tell apart, in the order of these. */
type Bucket = Entry[];

/**
 * The entries of one listener under one hostname, arranged so that a request meets few of them: exact paths by
 * name, prefixes by segment. Expressions can only be tried one after the other. Which entry goes before which is
 * told by the sort keys alone.
 */
export class Tier {
  private readonly exact = new Map<string, Bucket>();
  private readonly expressions: Bucket = [];
  private readonly prefixes = new Trie<Bucket>();

  insert(entry: Entry): void {
    const bucket = this.bucketFor(entry);
    bucket.splice(position(bucket, entry.sortKey), 0, entry);
  }

  /** Removes the entry with this entry's sort key. */
  remove(entry: Entry): void {
    const bucket = this.bucketFor(entry);
    const at = position(bucket, entry.sortKey);
    if (bucket[at]?.sortKey === entry.sortKey) bucket.splice(at, 1);
    if (bucket.length > 0) return;
    const { type, value } = entry.matched.match.path;
    if (type === 'Exact') this.exact.delete(value);
    else if (type === 'PathPrefix') this.prefixes.remove(prefixSegments(value));
  }

  /** The first entry, in the order of the sort keys, that the request meets. */
  first(request: RouteRequest): Entry | undefined {
    let best = firstOf(this.exact.get(request.path), request);
    best = firstOf(this.expressions, request, best);
    for (const bucket of this.prefixes.along(segments(request.path))) best = firstOf(bucket, request, best);
    return best;
  }

  get isEmpty(): boolean {
    return this.exact.size === 0 && this.expressions.length === 0 && this.prefixes.isEmpty;
  }

  private bucketFor(entry: Entry): Bucket {
    const { type, value } = entry.matched.match.path;
    if (type === 'RegularExpression') return this.expressions;
    if (type === 'PathPrefix') return this.prefixes.ensure(prefixSegments(value), () => []);
    const bucket = this.exact.get(value) ?? [];
    this.exact.set(value, bucket);
    return bucket;
  }
}

/** The first entry of a bucket that the request meets, or `best` where that goes before. */
function firstOf(bucket: Bucket | undefined, request: RouteRequest, best?: Entry): Entry | undefined {
  for (const entry of bucket ?? []) {
    if (best !== undefined && best.sortKey < entry.sortKey) return best;
    if (entry.conditions.every((condition) => condition.holds(request))) return entry;
  }
  return best;
}

/** Where `sortKey` stands in the bucket or, if it is not there, where it belongs. */
function position(bucket: Bucket, sortKey: string): number {
  let low = 0;
  let high = bucket.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = bucket[middle];
    if (found !== undefined && found.sortKey < sortKey) low = middle + 1;
    else high = middle;
  }
  return low;
}

function prefixSegments(prefix: string): string[] {
  return segments(withoutTrailingSlash(prefix));
}

/** The text before the leading slash is a segment too (an empty one), so that `*` is below no prefix. */
function segments(path: string): string[] {
  return path.split('/');
}
