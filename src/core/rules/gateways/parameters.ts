import type { ParametersNode } from '../../graph/parameters.ts';
import { display } from '../../text/display.ts';
import type { Consequence, Finding } from '../engine/rule.ts';

export const refused: Consequence = { condition: 'Accepted', reason: 'InvalidParameters', scope: 'object' };

export function describe(node: ParametersNode): Pick<Finding, 'value' | 'message'> | undefined {
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
