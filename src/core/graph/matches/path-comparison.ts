import type { Reader } from '../../incremental/reader.ts';
import { hasPathPrefix } from '../../text/path.ts';
import type { PrefixComparison, PrefixRelation } from '../../patterns/prefix.ts';
import { compilePattern } from '../../patterns/pattern.ts';
import type { HostnameRefusal, PathOwner } from './hostname-policies.ts';
import { pathOwners, type PathOwners } from './path-owners.ts';
import type { RouteMatch } from './route-match.ts';

// Decisions about the matches of a route on hostnames of which some paths have owners.

/** A hostname that a route serves, with the owners of its paths. */
export interface OwnedPlace {
  readonly owners: readonly PathOwner[];
  /** Equal for hostnames that need no separate comparison. */
  readonly key: string;
  readonly covering: PathOwners['covering'];
  readonly below: PathOwners['below'];
  readonly hostname: string;
}

/** Returns the owners of the paths of a served hostname on a Gateway (`namespace/name`), with their decisions about a namespace. */
export function ownedPlace(read: Reader, hostname: string, gateway: string, namespace: string): OwnedPlace {
  const { covering, below } = read.query(pathOwners, hostname, gateway, namespace);
  const decisions = (owners: readonly PathOwner[]) => owners.map(({ path, permission }) => [path, permission.type]);
  const key = JSON.stringify([
    covering.map((owners) => [owners[0]?.owned === hostname, decisions(owners)]),
    decisions(below),
  ]);
  return { owners: [...covering.flat(), ...below], key, covering, below, hostname };
}

/** Why a namespace may not serve a path. `isCompared`: false if the route exceeds the limit of comparisons. */
export interface PathRefusal {
  readonly refusal: HostnameRefusal;
  readonly isCompared: boolean;
}

/** The owner that decides about a match, by its position in the owners of a place. */
interface Decision {
  readonly position: number;
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
  /** Positions in the owners of a place, or -1. */
  private readonly deciding = new Memory<number>();
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
    const permission = decision && place.owners[decision.position]?.permission;
    if (decision === undefined || permission?.type !== 'refused') return undefined;
    return { refusal: permission, isCompared: decision.isCompared };
  }

  /** Returns the owner that permits a path to the namespace; `undefined` if policies do not mention the path, or refuse it. */
  ownerOf({ key, owners, covering }: OwnedPlace, path: RouteMatch['path']): PathOwner | undefined {
    const position = this.deciding.at(key, `${path.type} ${path.value}`, () =>
      covering.flat().findIndex((owner) => this.relation(path, owner.path) === 'within'),
    );
    const decisive = owners[position];
    return decisive?.permission.type === 'permitted' ? decisive : undefined;
  }

  private decide({ owners, covering, below, hostname }: OwnedPlace, match: RouteMatch): Decision | undefined {
    const { path } = match;
    const precedesLonger = path.type === 'RegularExpression' || match.call !== undefined;
    const decidedBy = (owner: PathOwner, isCompared = true): Decision => ({
      position: owners.indexOf(owner),
      isCompared,
    });
    for (const level of covering) {
      const related = level.map((owner) => ({ owner, relation: this.relation(path, owner.path) }));
      const taken = related.find(
        ({ owner, relation }) =>
          owner.permission.type === 'refused' &&
          (relation === 'unknown' || (relation === 'overlapping' && (owner.owned !== hostname || precedesLonger))),
      );
      if (taken !== undefined) return decidedBy(taken.owner, taken.relation !== 'unknown');
      const decisive = related.find(({ relation }) => relation === 'within');
      if (decisive !== undefined) return decidedBy(decisive.owner);
    }
    // Routes for narrower hostnames have precedence, so nothing is taken from their owners.
    for (const owner of below) {
      const relation = owner.permission.type === 'refused' ? this.relation(path, owner.path) : 'disjoint';
      if (relation === 'within' || relation === 'unknown') return decidedBy(owner, relation !== 'unknown');
    }
    return undefined;
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
