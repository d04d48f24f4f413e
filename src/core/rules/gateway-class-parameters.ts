import { installationCell } from '../graph/inputs.ts';
import { display } from '../text/display.ts';
import { rule } from './rule.ts';

/** A class whose parameters nobody reads must not look accepted: its Gateways would run with other settings. */
export const gatewayClassParameters = rule({
  id: 'gateway-class-parameters',
  kinds: ['GatewayClass'],
  about: 'dialect',
  summary: 'The GatewayClass refers to parameters, which are not supported yet.',
  effect: { audit: 'record', standard: 'warn', strict: 'warn' },
  consequence: { condition: 'Accepted', reason: 'InvalidParameters', scope: 'object' },
  source: 'Gateway API v1.7.0, GatewayClassSpec.parametersRef; GatewayClassReasonInvalidParameters',
  check(gatewayClass, read, report) {
    const ref = gatewayClass.spec?.parametersRef;
    if (ref === undefined || gatewayClass.spec?.controllerName !== read.input(installationCell)?.controllerName) return;
    report({
      path: ['spec', 'parametersRef'],
      value: display(`${ref.kind ?? ''} ${ref.name ?? ''}`.trim()),
      message: 'This controller reads no parameters for a GatewayClass, so the class is not accepted and its Gateways are left alone. Remove parametersRef.',
    });
  },
});
