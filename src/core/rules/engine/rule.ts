import type { Reader } from '../../incremental/reader.ts';
import type { Path } from '../../resources/path.ts';
import type { KindName, Resource } from '../../resources/resource.ts';

/** The effect of a finding on admission. `record` only adds it to audit annotations, metrics and logs. */
export type Effect = 'none' | 'record' | 'warn' | 'deny';

/** The sets of effects that users can select. Each effect can be overridden per rule. */
export const profiles = ['audit', 'standard', 'strict'] as const;
export type Profile = (typeof profiles)[number];

/**
 * The part of an object that a finding disables in the data plane. The path of the finding identifies it: scope `rule` with
 * path `spec.rules[2].filters[0]` means rule 2. With scope `mirror`, the rule continues without the mirror. With scope
 * `listenerFilter`, the listener keeps its hostname, and its requests get an error.
 */
export type Scope =
  | 'object'
  | 'listener'
  | 'listenerFilter'
  | 'parentRef'
  | 'rule'
  | 'match'
  | 'backendRef'
  | 'mirror'
  | 'target';

/** The effect of a finding on status and traffic, regardless of the settings for admission. */
export interface Consequence {
  /** The condition that becomes unhealthy, e.g. `Accepted` or `ResolvedRefs`. */
  readonly condition: string;
  readonly reason: string;
  readonly scope: Scope;
}

/** One problem at one location. The message contains the problem and the fix. */
export interface Finding {
  readonly rule: string;
  readonly path: Path;
  readonly message: string;
  /** The offending value as the user wrote it, shortened for display. */
  readonly value?: string;
  /** Set if only some findings of a rule are about Sallyport's support. */
  readonly about?: 'dialect';
  /** Set if the consequence depends on the case: it differs from that of the rule only as `varies` says. */
  readonly consequence?: Consequence;
}

/**
 * The maximum number of characters of a message. Conditions and admission responses must have room for several messages, and
 * names in a message can have any length and content.
 */
export const longestMessage = 2_048;

/**
 * Reports a finding. Returns `false` if there are too many: then no further finding with the same consequence about the same part of the
 * object will be kept, so a rule need not look for more.
 */
export type ReportFinding = (found: Omit<Finding, 'rule'>) => boolean;

/** The metadata of a rule. `ObjectRule` and `ValueRule` add the check. */
export interface Rule {
  /** In kebab-case. Also the name of its source file, test and documentation page. */
  readonly id: string;
  /** One line, for lists and tables. */
  readonly summary: string;
  readonly effect: Readonly<Record<Profile, Effect>>;
  /**
   * Set for rules about Sallyport's support, not about the specification. Because other controllers share the cluster, these
   * rules deny only if every parent of the object is ours, record if its controller is unknown, and have no effect if it
   * belongs to another controller.
   */
  readonly about?: 'dialect';
  /** Absent if neither status nor traffic reacts, or if they react to some findings only, as `varies` says. */
  readonly consequence?: Consequence;
  /** The parts of the consequence that depend on the finding. Absent: all findings have the consequence of the rule. */
  readonly varies?: readonly (keyof Consequence)[];
  /** The text of the specification that the rule is based on: document and section. */
  readonly source: string;
}

/**
 * A rule about one object: metadata, and the function `check`. `check` must not throw for any readable resource, must be
 * deterministic, and must read other objects only through `read`.
 */
export interface ObjectRule<K extends KindName = KindName> extends Rule {
  readonly kinds: readonly K[];
  check(subject: Resource<K>, read: Reader, report: ReportFinding): void;
}

/** Declares a rule. The type parameter is inferred from `kinds`, so that `check` gets the right resource type. */
export function rule<const K extends KindName>(declaration: ObjectRule<K>): ObjectRule<K> {
  return declaration;
}
