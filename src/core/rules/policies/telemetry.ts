// Fields of XTelemetryPolicies.

export interface Attribute {
  readonly sourceType?: string;
  readonly attributeKey?: string;
  readonly headerName?: string;
  readonly literalValue?: string;
}

export interface Tracing {
  readonly mode?: string;
  readonly provider?: { readonly headers?: readonly { readonly name?: string }[] };
  readonly attributes?: readonly Attribute[];
  readonly samplingRate?: { readonly numerator?: number };
}
