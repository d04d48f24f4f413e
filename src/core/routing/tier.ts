import { withoutTrailingSlash } from '../graph/matches/precedence.ts';
import type { MatchAllowance } from './match-allowance.ts';
import type { MatchCondition, RouteRequest } from './match-conditions.ts';
import type { MatchedRoute } from './config.ts';
import { insertSorted, removeSorted } from './sorted.ts';
import { Trie } from './trie.ts';
import type { Version } from './versions.ts';

/** A match of a rule under one of its route's hostnames. */
export interface Entry {
  /** Unique among the active entries of a listener; see `sortKey` in precedence.ts. */
  readonly sortKey: string;
  readonly version: Version;
  readonly hostname: string;
  readonly matched: MatchedRoute;
  readonly conditions: readonly MatchCondition[];
}

/** Entries that differ only in their sort keys, in ascending order. */
type Bucket = Entry[];

/**
 * The entries of one listener for one hostname, arranged so that a lookup evaluates few of them: exact paths by value,
 * prefixes by segment. Regular expressions have to be evaluated one by one. Only the sort keys determine precedence.
 */
export class Tier {
  /** Absent until there is an exact path: there is a tier for each hostname, and most have prefixes only. */
  private exact: Map<string, Bucket> | undefined;
  private readonly expressions: Bucket = [];
  private readonly prefixes = new Trie<Bucket>();

  insert(entry: Entry): void {
    insertSorted(this.bucketFor(entry), entry);
  }

  /** Removes an entry. Does nothing if it is not found. */
  remove(entry: Entry): void {
    const bucket = this.bucketFor(entry);
    removeSorted(bucket, entry);
    if (bucket.length > 0) return;
    const { type, value } = entry.matched.match.path;
    if (type === 'Exact') this.exact?.delete(value);
    else if (type === 'PathPrefix') this.prefixes.remove(prefixSegments(value));
  }

  /**
   * The first active entry in the order of the sort keys that the request matches.
   *
   * @throws MatchTooCostly if the allowance is exceeded
   */
  first(request: RouteRequest, allowance: MatchAllowance): Entry | undefined {
    const holds = (condition: MatchCondition): boolean => {
      allowance.takeCondition();
      return condition.holds(request, allowance);
    };
    let best = firstOf(this.exact?.get(request.path), holds);
    best = firstOf(this.expressions, holds, best);
    for (const bucket of this.prefixes.alongPath(request.path)) best = firstOf(bucket, holds, best);
    return best;
  }

  get isEmpty(): boolean {
    return (
      (this.exact === undefined || this.exact.size === 0) && this.expressions.length === 0 && this.prefixes.isEmpty
    );
  }

  private bucketFor(entry: Entry): Bucket {
    const { type, value } = entry.matched.match.path;
    if (type === 'RegularExpression') return this.expressions;
    if (type === 'PathPrefix') return this.prefixes.ensure(prefixSegments(value), () => []);
    this.exact ??= new Map();
    const bucket = this.exact.get(value) ?? [];
    this.exact.set(value, bucket);
    return bucket;
  }
}

/** The first active entry of a bucket whose conditions hold, or `best` if that has precedence. */
function firstOf(
  bucket: Bucket | undefined,
  holds: (condition: MatchCondition) => boolean,
  best?: Entry,
): Entry | undefined {
  for (const entry of bucket ?? []) {
    if (best !== undefined && best.sortKey < entry.sortKey) return best;
    if (entry.version.isActive && entry.conditions.every(holds)) return entry;
  }
  return best;
}

function prefixSegments(prefix: string): string[] {
  return segments(withoutTrailingSlash(prefix));
}

/** The text before the leading slash is an (empty) segment too, so that `*` is not below any prefix. */
function segments(path: string): string[] {
  return path.split('/');
}
