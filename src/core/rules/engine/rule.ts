import type { Reader } from '../../incremental/reader.ts';
import type { Path } from '../../resources/path.ts';
import type { KindName, Resource } from '../../resources/resource.ts';

/** What admission does with a finding. `record` leaves it to audit annotations, metrics and logs. */
export type Effect = 'none' | 'record' | 'warn' | 'deny';

/** The sets of effects a user chooses from; each effect can be overridden per rule. */
export const profiles = ['audit', 'standard', 'strict'] as const;
export type Profile = (typeof profiles)[number];

/**
 * The part of an object that a finding disables in the data plane. The finding's path tells which one:
 * scope `rule` with path `spec.rules[2].filters[0]` means rule 2. Without a mirror its rule goes on.
 */
export type Scope = 'object' | 'listener' | 'parentRef' | 'rule' | 'match' | 'backendRef' | 'mirror' | 'target';

/** What status and traffic do with a finding, whatever admission was told to do. */
export interface Consequence {
  /** The condition that turns to the unhealthy side, e.g. `Accepted` or `ResolvedRefs`. */
  readonly condition: string;
  readonly reason: string;
  readonly scope: Scope;
}

/** One thing that is wrong at one place. The message is complete: what is wrong and what to write instead. */
export interface Finding {
  readonly rule: string;
  readonly path: Path;
  readonly message: string;
  /** The offending value as the user wrote it, shortened for display. */
  readonly value?: string;
  /** Where only some findings of a rule are about our own dialect or features. */
  readonly about?: 'dialect';
  /** Where a rule's reason depends on the case; otherwise the rule's own consequence holds. */
  readonly consequence?: Consequence;
}

/** Conditions and reviews have room for several messages; names in one may be of any length and hold anything. */
export const longestMessage = 2_048;

export type Report = (found: Omit<Finding, 'rule'>) => void;

/** A rule: what is known about it, whatever it judges. `ObjectRule` and `ValueRule` add how it judges. */
export interface Rule {
  /** Kebab-case; also the name of its source file, of its test and of its documentation page. */
  readonly id: string;
  /** One line for lists and tables. */
  readonly summary: string;
  readonly effect: Readonly<Record<Profile, Effect>>;
  /**
   * Rules about our own dialect or features rather than about the specification. Other controllers share the cluster,
   * so these deny only where every parent of the object is ours, record where its controller is not known, and find
   * nothing where it is another one.
   */
  readonly about?: 'dialect';
  /** Absent where neither status nor traffic reacts. */
  readonly consequence?: Consequence;
  /** The text of the specification the rule rests on: document and section. */
  readonly source: string;
}

/**
 * A judgement about one object: metadata as data, behaviour as `check`. `check` must not throw on any readable
 * resource, must be deterministic, and reads other objects through `read` only.
 */
export interface ObjectRule<K extends KindName = KindName> extends Rule {
  readonly kinds: readonly K[];
  check(subject: Resource<K>, read: Reader, report: Report): void;
}

/** Declares a rule; the type parameter is inferred from `kinds`, so `check` sees the right resource type. */
export function rule<const K extends KindName>(declaration: ObjectRule<K>): ObjectRule<K> {
  return declaration;
}
