import { addressHostname, addressRepeated, addressRoutability } from './addresses.ts';
import { backendAuthority } from './backend-authority.ts';
import { controllerNameChanged } from './controller-name-changed.ts';
import { corsWildcard } from './cors-wildcard.ts';
import { fieldPruned } from './field-pruned.ts';
import { fractionAboveOne, mirrorShareRepeated } from './fractions.ts';
import { defensiveRules, linkRules } from './link-rules.ts';
import { listenerRepeated } from './listener-repeated.ts';
import { rivalRules } from './match-taken.ts';
import { qualifiedKey } from './qualified-key.ts';
import { refusedLater } from './refused-later.ts';
import { retryInterval } from './retry-interval.ts';
import type { Rule, RuleFrame } from './rule.ts';
import { serverNameIsIp } from './server-name-is-ip.ts';
import { sessionWithoutEnd } from './session-without-end.ts';
import { targetRepeated } from './target-repeated.ts';
import { tooManyMatches } from './too-many-matches.ts';
import { tracingMissing } from './tracing-missing.ts';
import { trustBundleNamespace } from './trust-bundle-namespace.ts';
import { unenforcedRules } from './unenforced/rules.ts';
import { unservedKind } from './unserved-kind.ts';
import { unionMember } from './union-member.ts';
import { backendPortForbidden, backendPortName, backendProtocolTls, externalHostnameInternal } from './x-backend.ts';

export { defensiveRules };

/** All rules that look at objects as they are linked. An object's findings come in this order. */
export const registry: readonly Rule[] = [...linkRules, ...rivalRules];

/**
 * Rules that some bundle's CRDs enforce and that no other rule of ours has taken up for all bundles. What they forbid is
 * found for one bundle at a time (official/judge.ts).
 */
export const specificationRules: readonly RuleFrame[] = [
  tooManyMatches,
  serverNameIsIp,
  corsWildcard,
  mirrorShareRepeated,
  fractionAboveOne,
  unionMember,
  sessionWithoutEnd,
  backendPortForbidden,
  listenerRepeated,
  trustBundleNamespace,
  addressRepeated,
  addressHostname,
  addressRoutability,
  qualifiedKey,
  targetRepeated,
  backendAuthority,
  backendProtocolTls,
  externalHostnameInternal,
  backendPortName,
  retryInterval,
  tracingMissing,
];

/**
 * Rules that no bundle enforces, or not every one, about values of one object. Status and traffic do not react to what they
 * find, so only admission asks (unenforced/judge.ts).
 */
export { unenforcedRules };

/** Rules about a change, whatever the bundle; found by comparing with the old object. */
export const changeRules: readonly RuleFrame[] = [controllerNameChanged];

/** Rules about what was written with an object, beside the object itself. */
export const writeRules: readonly RuleFrame[] = [fieldPruned];

/** Rules about what an upgrade of the CRDs would do to an object. */
export const upgradeRules: readonly RuleFrame[] = [refusedLater];

/** Rules about kinds that take no part in evaluation. */
export const kindRules: readonly RuleFrame[] = [unservedKind];

/** Every rule that admission may have findings of, beside the schema's. */
export const allRules: readonly RuleFrame[] = [...registry, ...specificationRules, ...unenforcedRules, ...changeRules, ...writeRules, ...upgradeRules, ...kindRules];
