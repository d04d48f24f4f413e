import { installationCell } from '../../graph/inputs.ts';
import { classParameters } from '../../graph/parameters.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { describe, refused } from './parameters.ts';

/** A class with unreadable parameters must not be accepted, because its Gateways would run with other settings. */
export const gatewayClassParameters = rule({
  id: 'gateway-class-parameters',
  kinds: ['GatewayClass'],
  about: 'dialect',
  summary: 'The parametersRef of a GatewayClass is invalid.',
  effect: warned,
  consequence: refused,
  source: 'Gateway API v1.7.0, GatewayClassSpec.parametersRef; GatewayClassReasonInvalidParameters',
  check(gatewayClass, read, report) {
    if (gatewayClass.spec?.controllerName !== read.input(installationCell)?.controllerName) return;
    const problem = describe(read.query(classParameters, gatewayClass.ref.name));
    if (problem !== undefined)
      report({
        path: ['spec', 'parametersRef'],
        ...problem,
        message: `${problem.message} Until then, the GatewayClass is not accepted, and its Gateways are not reconciled.`,
      });
  },
});
