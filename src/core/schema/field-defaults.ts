/** The group of Gateway API kinds; also the default of several references. */
export const gatewayGroup = 'gateway.networking.k8s.io';

/**
 * The defaults that the CRDs of the Gateway API, and Kubernetes itself, give to fields. The tables use them, and so does all code
 * that reads views: objects in files have no defaults yet, and older bundles do not set all of them.
 */
export const fieldDefaults = {
  parentRef: { group: gatewayGroup, kind: 'Gateway' },
  backendRef: { group: '', kind: 'Service' },
  /** References to certificates with keys */
  secretRef: { group: '', kind: 'Secret' },
  /** backendRefs[].weight */
  weight: 1,
  /** matches[].path of an HTTPRoute */
  path: { type: 'PathPrefix', value: '/' },
  /** The type of matches of headers, query parameters and gRPC methods. */
  matchType: 'Exact',
  /** Fraction.denominator */
  denominator: 100,
  /** requestRedirect.statusCode */
  redirectStatus: 302,
  /** cors.maxAge, in seconds */
  corsMaxAge: 5,
  retryAttempts: 1,
  retryBudget: { interval: '10s', percent: 20 },
  minRetryRate: { count: 10, interval: '1s' },
  session: { type: 'Cookie', cookiePath: '/', lifetimeType: 'Session' },
  /** spec.tls.mode of an XBackend */
  backendTlsMode: 'None',
  /** listeners[].tls.mode */
  tlsMode: 'Terminate',
  /** spec.tls.frontend of a Gateway: validation.mode */
  clientValidationMode: 'AllowValidOnly',
  /** allowedRoutes.kinds[].group */
  routeKindGroup: gatewayGroup,
  /** allowedRoutes.namespaces.from */
  routesFrom: 'Same',
  /** allowedListeners.namespaces.from */
  listenersFrom: 'None',
  /** spec.addresses[].type of a Gateway */
  addressType: 'IPAddress',
  /** spec.tracing.mode of an XTelemetryPolicy */
  telemetryMode: 'ImplementationDefault',
  /** ports[].protocol of Services and EndpointSlices; the API server sets it in stored objects. */
  portProtocol: 'TCP',
} as const;
