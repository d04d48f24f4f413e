import { headerNameRepeated } from '../header-name-repeated.ts';
import { hostnameCovered, hostnameIsIp, hostnameLabelTooLong, hostnameRepeated } from '../hostnames.ts';
import { parentGroup, parentRepeated, parentSectionShared, routeWithoutParents } from '../parents.ts';
import { ruleNameRepeated } from '../rule-name-repeated.ts';
import type { RuleFrame } from '../rule.ts';

// The rules of which the tables beside this say where they look.

export const unenforcedRouteRules: readonly RuleFrame[] = [
  parentRepeated, parentSectionShared, parentGroup, routeWithoutParents,
  hostnameIsIp, hostnameLabelTooLong, hostnameRepeated, hostnameCovered,
  ruleNameRepeated, headerNameRepeated,
];

export const unenforcedGatewayRules: readonly RuleFrame[] = [];

export const unenforcedPolicyRules: readonly RuleFrame[] = [];
