import { gatewayWith } from './rules.ts';

/** A Gateway `shop/front` with an HTTPS listener on port 443 that asks clients for certificates as told. */
export function validatingGateway(frontend: object): unknown {
  const gateway = gatewayWith({ name: 'web', port: 443, protocol: 'HTTPS' }) as { readonly spec: object };
  return {
    ...gateway,
    spec: { ...gateway.spec, allowedListeners: { namespaces: { from: 'Same' } }, tls: { frontend } },
  };
}
