/** GatewayClasses with this controllerName belong to us. */
export const controllerName = 'sallyport.dev/gateway-controller';

/** The Secret in the namespace of the controller with the key for traces, in its field `key`. */
export const traceSecretName = 'sallyport-trace';
/** Minimum number of characters of that key. */
export const shortestTraceSecret = 32;
