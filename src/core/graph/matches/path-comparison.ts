import type { Reader } from '../../incremental/reader.ts';
import { hasPathPrefix, pathPrefixes } from '../../text/path.ts';
import type { PrefixComparison, PrefixRelation } from '../../patterns/prefix.ts';
import { compilePattern } from '../../patterns/pattern.ts';
import { refusalOn, verdictOn, type HostnameRefusal, type JudgedHostname } from './hostname-policies.ts';
import { pathOwners, type PathOwners } from './path-owners.ts';
import type { RouteMatch } from './route-match.ts';

// Decisions about the matches of a route on hostnames of which some paths have owners.

/** A hostname that a route serves, with the owners of its paths. */
export interface OwnedPlace extends PathOwners {
  /** Equal for hostnames that need no separate comparison. */
  readonly key: string;
  readonly hostname: string;
}

/** Returns the owners of the paths of a served hostname on a Gateway (`namespace/name`), with their decisions about a namespace. */
export function ownedPlace(read: Reader, hostname: string, gateway: string, namespace: string): OwnedPlace {
  const { covering, below } = pathOwners(read, hostname, gateway, namespace);
  const keys = [
    ...covering.map((one) => `${numberOf(one)}${one.hostname.owned === hostname ? ' own' : ''}`),
    'below',
    ...below.map(numberOf),
  ];
  return { key: keys.join(), covering, below, hostname };
}

const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/** Returns the same number for hostnames with the same policies, which decide the same about a namespace. */
function numberOf({ hostname: { grants } }: JudgedHostname): number {
  const known = numbers.get(grants);
  if (known !== undefined) return known;
  lastNumber += 1;
  numbers.set(grants, lastNumber);
  return lastNumber;
}

/** Why a namespace may not serve a path. `isCompared`: false if the route exceeds the limit of comparisons. */
export interface PathRefusal {
  readonly refusal: HostnameRefusal;
  readonly isCompared: boolean;
}

/** The owner that decides about a match. Places with the same key have the same decisions. */
interface Decision {
  /** The position of the owned hostname among those that cover the place, then the narrower ones. */
  readonly position: number;
  readonly path: string;
  readonly isCompared: boolean;
}

/** Beyond the limit of comparisons, the relation is unknown. */
type KnownRelation = PrefixRelation | 'unknown';

/** The cost of a comparison, and of the first one of a regular expression with a prefix, besides one step for each character. */
const costOf = { comparison: 4, expression: 16 } as const;

/** The maximum number of steps for one route, some 10 ns each. */
export const maxComparisonSteps = 2_500_000;

/**
 * Compares the matches of one route with owned paths. Hostnames with equal owners are compared once, and so are an expression and
 * a prefix. The work is limited regardless of the number of matches, hostnames, parentRefs and owned paths.
 */
export class PathComparison {
  private readonly decisions = new Memory<Decision | undefined>();
  private readonly deciding = new Memory<Decision | undefined>();
  private readonly refusedBelow = new Memory<readonly OwnedPath[]>();
  private readonly expressions = new Map<string, KnownExpression | undefined>();
  private stepsTaken = 0;

  get steps(): number {
    return this.stepsTaken;
  }

  /**
   * Returns why a match may not be served at a place; `undefined` if it may. The policies with the narrowest hostname, then with
   * the longest path that contains all requests of the match decide. A match also needs permission for each path that it takes
   * from its owner: with a more specific hostname, as a regular expression, or in a GRPCRoute, it has precedence over longer
   * prefixes of HTTPRoutes. Any other prefix leaves the requests for longer ones to their owners.
   */
  refusalOf(place: OwnedPlace, match: RouteMatch): PathRefusal | undefined {
    const key = `${match.path.type} ${match.call !== undefined} ${match.path.value}`;
    const decision = this.decisions.at(place.key, key, () => this.decide(place, match));
    const owned = decision && hostnameAt(place, decision);
    if (decision === undefined || owned === undefined || verdictOn(owned, decision.path) !== 'refused')
      return undefined;
    return { refusal: refusalOn(owned.hostname, decision.path), isCompared: decision.isCompared };
  }

  /** Returns the owner that permits a path to the namespace; `undefined` if policies do not mention the path, or refuse it. */
  ownerOf(place: OwnedPlace, path: RouteMatch['path']): PathOwner | undefined {
    const decision = this.deciding.at(place.key, `${path.type} ${path.value}`, () => this.containing(place, path));
    const owned = decision && hostnameAt(place, decision);
    if (decision === undefined || owned === undefined) return undefined;
    if (verdictOn(owned, decision.path) !== 'permitted') return undefined;
    return { owned: owned.hostname.owned, path: decision.path };
  }

  private containing({ covering }: OwnedPlace, path: RouteMatch['path']): Decision | undefined {
    for (const [position, { hostname }] of covering.entries()) {
      const within = this.candidates(hostname.paths, path).find((one) => this.relation(path, one) === 'within');
      if (within !== undefined) return { position, path: within, isCompared: true };
    }
    return undefined;
  }

  private decide(place: OwnedPlace, match: RouteMatch): Decision | undefined {
    for (const position of place.covering.keys()) {
      const decision = this.decideAt(place, position, match);
      if (decision !== undefined) return decision;
    }
    return this.decideBelow(place, match.path);
  }

  private decideAt({ covering, hostname }: OwnedPlace, position: number, match: RouteMatch): Decision | undefined {
    const judged = covering[position];
    if (judged === undefined) return undefined;
    const { path } = match;
    const precedesLonger = path.type === 'RegularExpression' || match.call !== undefined;
    const mayTake = judged.hostname.owned !== hostname || precedesLonger;
    const { paths } = judged.hostname;
    let decisive: string | undefined;
    for (const owned of mayTake && path.type !== 'Exact' ? paths.keys() : this.candidates(paths, path)) {
      const relation = this.relation(path, owned);
      const isTaken = relation === 'unknown' || (relation === 'overlapping' && mayTake);
      if (isTaken && verdictOn(judged, owned) === 'refused')
        return { position, path: owned, isCompared: relation !== 'unknown' };
      if (relation === 'within') decisive ??= owned;
    }
    return decisive === undefined ? undefined : { position, path: decisive, isCompared: true };
  }

  /** Routes for narrower hostnames have precedence, so nothing is taken from their owners. */
  private decideBelow(place: OwnedPlace, path: RouteMatch['path']): Decision | undefined {
    for (const { position, path: owned } of this.ownedBelow(place, path)) {
      const relation = this.relation(path, owned);
      if (relation === 'within' || relation === 'unknown')
        return { position, path: owned, isCompared: relation !== 'unknown' };
    }
    return undefined;
  }

  /** Finds the refused paths of narrower hostnames that a path is compared with. */
  private ownedBelow(place: OwnedPlace, path: RouteMatch['path']): Iterable<OwnedPath> {
    if (path.type === 'RegularExpression')
      return this.refusedBelow.at(place.key, '', () => [...distinct(refusedPaths(place, ({ paths }) => paths.keys()))]);
    return refusedPaths(place, ({ paths }) => this.candidates(paths, path));
  }

  /** Finds the owned paths that can contain a path, longest first: for a literal one, few of them. */
  private *candidates(
    paths: JudgedHostname['hostname']['paths'],
    { type, value }: RouteMatch['path'],
  ): Generator<string> {
    const prefixes = type === 'RegularExpression' ? undefined : pathPrefixes(value);
    if (prefixes === undefined || paths.size <= prefixes.length || this.stepsTaken >= maxComparisonSteps)
      return yield* paths.keys();
    this.stepsTaken += costOf.comparison * prefixes.length;
    for (const prefix of prefixes) if (paths.has(prefix)) yield prefix;
    if (paths.has('')) yield '';
  }

  private relation({ type, value }: RouteMatch['path'], prefix: string): KnownRelation {
    if (prefix === '') return 'within';
    if (this.stepsTaken >= maxComparisonSteps) return 'unknown';
    this.stepsTaken += costOf.comparison;
    if (type === 'RegularExpression') return this.relationOfExpression(value, prefix);
    if (hasPathPrefix(value, prefix)) return 'within';
    return type === 'PathPrefix' && hasPathPrefix(prefix, value) ? 'overlapping' : 'disjoint';
  }

  /** An invalid expression matches nothing. */
  private relationOfExpression(text: string, prefix: string): PrefixRelation {
    if (!this.expressions.has(text)) this.expressions.set(text, knownExpression(text));
    const expression = this.expressions.get(text);
    if (expression === undefined) return 'disjoint';
    const { comparison, relations } = expression;
    const known = relations.get(prefix);
    if (known !== undefined) return known;
    const before = comparison.steps;
    const relation = comparison.relationTo(prefix);
    this.stepsTaken += costOf.expression + comparison.steps - before;
    relations.set(prefix, relation);
    return relation;
  }
}

/** A path of an owned hostname of a place. */
type OwnedPath = Pick<Decision, 'position' | 'path'>;

/** The owner of a path, by its hostname and path prefix in the policies. */
export type PathOwner = Pick<HostnameRefusal, 'owned' | 'path'>;

function hostnameAt({ covering, below }: OwnedPlace, { position }: Decision): JudgedHostname | undefined {
  return position < covering.length ? covering[position] : below[position - covering.length];
}

type PathsOf = (hostname: JudgedHostname['hostname']) => Iterable<string>;

/** Finds those of the paths of narrower hostnames that policies refuse. */
function* refusedPaths({ covering, below }: OwnedPlace, pathsOf: PathsOf): Generator<OwnedPath> {
  for (const [index, judged] of below.entries()) {
    if (!judged.verdicts.includes('refused')) continue;
    const position = covering.length + index;
    for (const path of pathsOf(judged.hostname)) if (verdictOn(judged, path) === 'refused') yield { position, path };
  }
}

/** Leaves out the paths that other hostnames have, too. */
function* distinct(owned: Iterable<OwnedPath>): Generator<OwnedPath> {
  const known = new Set<string>();
  for (const one of owned) {
    if (known.has(one.path)) continue;
    known.add(one.path);
    yield one;
  }
}

/** Results by the key of a place and of a match. */
class Memory<T> {
  private readonly results = new Map<string, Map<string, T>>();

  at(place: string, match: string, compute: () => T): T {
    const ofPlace = this.results.get(place) ?? new Map<string, T>();
    this.results.set(place, ofPlace);
    const known = ofPlace.get(match);
    if (known !== undefined || ofPlace.has(match)) return known as T;
    const result = compute();
    ofPlace.set(match, result);
    return result;
  }
}

interface KnownExpression {
  readonly comparison: PrefixComparison;
  /** By prefix. */
  readonly relations: Map<string, PrefixRelation>;
}

function knownExpression(text: string): KnownExpression | undefined {
  const compiled = compilePattern(text);
  return compiled.ok ? { comparison: compiled.pattern.comparePrefixes(), relations: new Map() } : undefined;
}
