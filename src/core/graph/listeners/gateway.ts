import { defineQuery } from '../../incremental/index.ts';
import { installationCell, readObject } from '../inputs.ts';
import { areUsable, classParameters } from '../parameters.ts';
import { isReadable } from '../../resources/resource.ts';
import { strata } from '../strata.ts';

/** A GatewayClass and its relation to our controller. */
export interface GatewayClassNode {
  readonly exists: boolean;
  /** The class names our controller. */
  readonly named: boolean;
  /** The class names our controller and is accepted: we provision its Gateways. */
  readonly ours: boolean;
}

export const gatewayClassNode = defineQuery({
  name: 'gatewayClass',
  stratum: strata.links,
  compute(read, name: string): GatewayClassNode {
    const resource = readObject(read, 'GatewayClass', '', name);
    const controllerName = read.input(installationCell)?.controllerName;
    if (resource === undefined) return { exists: false, named: false, ours: false };
    const named = controllerName !== undefined && resource.spec?.controllerName === controllerName;
    // A class with unusable parameters is not accepted, and its Gateways remain unchanged.
    const acceptable = isReadable(resource, ['spec']) && areUsable(read.query(classParameters, name));
    return { exists: true, named, ours: named && acceptable };
  },
});

/**
 * The class name of a Gateway, `''` if it has none; `undefined` if the Gateway does not exist. The query separates a Gateway
 * from its routes, so that other changes of the Gateway do not re-evaluate them.
 */
export const gatewayClassName = defineQuery({
  name: 'gatewayClassName',
  stratum: strata.links,
  compute(read, namespace: string, name: string): string | undefined {
    const gateway = readObject(read, 'Gateway', namespace, name);
    return gateway === undefined ? undefined : (gateway.spec?.gatewayClassName ?? '');
  },
});

/**
 * Whether the Gateway's class names our controller, accepted or not. The listeners and attached routes of a class that is not
 * accepted remain unchanged, because acceptance is about provisioning (GatewayClass, "limit the blast radius").
 */
export const isOfOurClass = defineQuery({
  name: 'isOfOurClass',
  stratum: strata.links,
  compute(read, namespace: string, name: string): boolean {
    const className = read.query(gatewayClassName, namespace, name);
    return className !== undefined && read.query(gatewayClassNode, className).named;
  },
});

/** Whether the Gateway exists, and our controller provisions it and writes its status. */
export const isOurGateway = defineQuery({
  name: 'isOurGateway',
  stratum: strata.links,
  compute(read, namespace: string, name: string): boolean {
    const className = read.query(gatewayClassName, namespace, name);
    return className !== undefined && read.query(gatewayClassNode, className).ours;
  },
});
