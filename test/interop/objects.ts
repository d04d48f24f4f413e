import type { Target } from '../attack/support/target.ts';
import { gatewayObjects, serviceObjects } from '../support/standalone-objects.ts';

/** A GatewayClass and the Gateway `front` with a listener for HTTP on this port, for `sallyport run`. */
export function gateway(port: number): string {
  return gatewayObjects({ name: 'front', namespace: 'shop' }, `{ name: http, port: ${port}, protocol: HTTP }`);
}

/** A Service with one endpoint on loopback, whose port is also that of the Service. */
export function service(name: string, port: number): string {
  return serviceObjects({ name, port, endpoint: port });
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where the Gateway `front` is served, which has a loopback address of its own. */
export function addressOfGateway(target: Target): Address {
  const { host, port } = /shop\/front http +http:\/\/(?<host>[^:]+):(?<port>\d+)/.exec(target.output())?.groups ?? {};
  if (host === undefined) throw new Error(`no address found in:\n${target.output()}`);
  return { host, port: Number(port) };
}
