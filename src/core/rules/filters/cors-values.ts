// Values of CORS filters.

export interface Cors {
  readonly allowOrigins?: readonly string[];
  readonly allowHeaders?: readonly string[];
  readonly exposeHeaders?: readonly string[];
  readonly allowMethods?: readonly string[];
  readonly allowCredentials?: boolean;
}
