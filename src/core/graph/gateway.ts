import { defineQuery } from '../incremental/index.ts';
import { installationCell, readObject } from './inputs.ts';
import { areUsable, classParameters } from './parameters.ts';
import { isReadable } from '../resources/resource.ts';
import { strata } from './strata.ts';

/** What a Gateway's class says about who serves it. */
export interface GatewayClassNode {
  readonly exists: boolean;
  /** The class names our controller. */
  readonly named: boolean;
  /** The class names our controller and can be accepted: its Gateways are ours to provision. */
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
    // A class whose parameters cannot be used is not accepted, and its Gateways are left as they are.
    const acceptable = isReadable(resource, ['spec']) && areUsable(read.query(classParameters, name));
    return { exists: true, named, ours: named && acceptable };
  },
});

/**
 * The class that a Gateway names, `''` where it names none; `undefined` where there is no such Gateway. Stands between
 * a Gateway and its routes, so that other changes of it wake none of them.
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
 * Whether the Gateway's class names our controller, accepted or not. Its listeners, and what is attached to them, go on as they
 * are while the class is refused: that concerns what is to be provisioned (GatewayClass, "limit the blast radius").
 */
export const isOfOurClass = defineQuery({
  name: 'isOfOurClass',
  stratum: strata.links,
  compute(read, namespace: string, name: string): boolean {
    const className = read.query(gatewayClassName, namespace, name);
    return className !== undefined && read.query(gatewayClassNode, className).named;
  },
});

/** Whether the Gateway exists and is ours to provision, and to speak about. */
export const isOurGateway = defineQuery({
  name: 'isOurGateway',
  stratum: strata.links,
  compute(read, namespace: string, name: string): boolean {
    const className = read.query(gatewayClassName, namespace, name);
    return className !== undefined && read.query(gatewayClassNode, className).ours;
  },
});
