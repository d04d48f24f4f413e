import { specificationRule } from '../engine/demand.ts';

/** Found by comparison with the old object (official/changes.ts). */
export const controllerNameChanged = specificationRule({
  id: 'controller-name-changed',
  summary: 'The controllerName of a GatewayClass or XMesh changes.',
  source: 'Gateway API v1.7.0, GatewayClassSpec.controllerName ("This field is not mutable and cannot be empty")',
});
