import type { ParametersNode } from '../../graph/parameters.ts';
import { display } from '../../text/display.ts';
import type { Consequence, Finding } from '../engine/rule.ts';

export const refused: Consequence = { condition: 'Accepted', reason: 'InvalidParameters', scope: 'object' };

export function describe(node: ParametersNode): Pick<Finding, 'value' | 'message'> | undefined {
  switch (node.type) {
    case 'unsupportedKind':
      return {
        value: display(node.kind),
        message: `Unsupported parameters kind ${display(node.kind)}. Use kind: ConfigMap and group: "".`,
      };
    case 'namespaceMissing':
      return {
        message:
          'Namespace is required: a GatewayClass is cluster-scoped, and ConfigMap is namespaced. Set namespace to the namespace of the ConfigMap.',
      };
    case 'absent':
      return { value: node.target, message: `ConfigMap "${node.target}" not found. Check the name, or create it.` };
    case 'read':
      return node.problems.length === 0
        ? undefined
        : {
            value: node.target,
            message: `Invalid parameters in ConfigMap "${node.target}": ${sentence(node.problems.join('; '))}`,
          };
    case 'none':
    case 'unobserved':
      return undefined;
  }
}

/** Adds a full stop, unless the text ends with a question mark. */
function sentence(text: string): string {
  return text.endsWith('?') ? text : `${text}.`;
}
