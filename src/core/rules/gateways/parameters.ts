import { isOurGateway } from '../../graph/gateway.ts';
import { installationCell } from '../../graph/inputs.ts';
import { classParameters, gatewayParameters, type ParametersNode } from '../../graph/parameters.ts';
import { display } from '../../text/display.ts';
import { warned } from '../engine/effects.ts';
import { rule, type Consequence, type Finding } from '../engine/rule.ts';

const refused: Consequence = { condition: 'Accepted', reason: 'InvalidParameters', scope: 'object' };

/** A class whose parameters nobody can read must not look accepted: its Gateways would run with other settings. */
export const gatewayClassParameters = rule({
  id: 'gateway-class-parameters',
  kinds: ['GatewayClass'],
  about: 'dialect',
  summary: 'The GatewayClass refers to parameters that cannot be used.',
  effect: warned,
  consequence: refused,
  source: 'Gateway API v1.7.0, GatewayClassSpec.parametersRef; GatewayClassReasonInvalidParameters',
  check(gatewayClass, read, report) {
    if (gatewayClass.spec?.controllerName !== read.input(installationCell)?.controllerName) return;
    const problem = describe(read.query(classParameters, gatewayClass.ref.name));
    if (problem !== undefined) report({ path: ['spec', 'parametersRef'], ...problem, message: `${problem.message} Until then the class is not accepted, and its Gateways are left alone.` });
  },
});

export const gatewayParametersInvalid = rule({
  id: 'gateway-parameters',
  kinds: ['Gateway'],
  about: 'dialect',
  summary: 'The Gateway refers to parameters that cannot be used.',
  effect: warned,
  consequence: refused,
  source: 'Gateway API v1.7.0, GatewayInfrastructure.parametersRef; GatewayReasonInvalidParameters',
  check({ ref: { namespace, name } }, read, report) {
    if (!read.query(isOurGateway, namespace, name)) return;
    const problem = describe(read.query(gatewayParameters, namespace, name));
    if (problem !== undefined) report({ path: ['spec', 'infrastructure', 'parametersRef'], ...problem, message: `${problem.message} Until then the Gateway is not served.` });
  },
});

function describe(node: ParametersNode): Pick<Finding, 'value' | 'message'> | undefined {
  switch (node.type) {
    case 'unsupportedKind':
      return { value: display(node.kind), message: `Parameters are read from ConfigMaps only, not from ${display(node.kind)}. Write kind: ConfigMap and group: "".` };
    case 'namespaceMissing':
      return { message: 'A GatewayClass is in no namespace, so parametersRef has to say where the ConfigMap is. Write namespace with that of the ConfigMap.' };
    case 'absent':
      return { value: node.target, message: `ConfigMap ${node.target} has not been seen. Check the name, or create it.` };
    case 'read':
      return node.problems.length === 0 ? undefined : { value: node.target, message: `ConfigMap ${node.target} cannot be understood: ${sentence(node.problems.join('; '))}` };
    case 'none':
    case 'unobserved':
      return undefined;
  }
}

/** Some problems end with a question. */
function sentence(text: string): string {
  return text.endsWith('?') ? text : `${text}.`;
}
