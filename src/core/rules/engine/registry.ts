import { addressHostname, addressRepeated, addressRoutability } from '../gateways/addresses.ts';
import { backendAuthority } from '../tls/backend-authority.ts';
import { controllerNameChanged } from '../gateways/controller-name-changed.ts';
import { corsWildcard } from '../filters/cors-wildcard.ts';
import { fieldPruned } from '../objects/field-pruned.ts';
import { fractionAboveOne, mirrorShareRepeated } from '../filters/fractions.ts';
import { defensiveRules, linkRules } from './link-rules.ts';
import { listenerRepeated } from '../listeners/listener-repeated.ts';
import { rivalRules } from '../matches/match-taken.ts';
import { qualifiedKey } from '../objects/qualified-key.ts';
import { refusedLater } from '../objects/refused-later.ts';
import { retryInterval } from '../timing/retry-interval.ts';
import type { Rule, RuleFrame } from './rule.ts';
import { serverNameIsIp } from '../tls/server-name-is-ip.ts';
import { sessionWithoutEnd } from '../sessions/session-without-end.ts';
import { targetRepeated } from '../policies/target-repeated.ts';
import { tooManyMatches } from '../matches/too-many-matches.ts';
import { tracingMissing } from '../policies/tracing-missing.ts';
import { trustBundleNamespace } from '../tls/trust-bundle-namespace.ts';
import { unenforcedRules } from '../unenforced/rules.ts';
import { unservedKind } from '../support/unserved-kind.ts';
import { unionMember } from '../objects/union-member.ts';
import { backendPortForbidden, backendPortName, backendProtocolTls, externalHostnameInternal } from '../backends/x-backend.ts';

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
