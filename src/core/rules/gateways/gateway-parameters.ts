import { isOurGateway } from '../../graph/listeners/gateway.ts';
import { gatewayParameters } from '../../graph/parameters.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { describe, refused } from './parameters.ts';

export const gatewayParametersInvalid = rule({
  id: 'gateway-parameters',
  kinds: ['Gateway'],
  about: 'dialect',
  summary: 'The parametersRef of a Gateway is invalid.',
  effect: warned,
  consequence: refused,
  source: 'Gateway API v1.7.0, GatewayInfrastructure.parametersRef; GatewayReasonInvalidParameters',
  check({ ref: { namespace, name } }, read, report) {
    if (!read.query(isOurGateway, namespace, name)) return;
    const problem = describe(read.query(gatewayParameters, namespace, name));
    if (problem !== undefined)
      report({
        path: ['spec', 'infrastructure', 'parametersRef'],
        ...problem,
        message: `${problem.message} Until then, the Gateway is not accepted.`,
      });
  },
});
