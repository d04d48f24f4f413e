// Fields of Gateways and GatewayClasses, except for listeners.

export interface Address {
  readonly type?: string;
  readonly value?: string;
  readonly routability?: string;
}

export interface Reference {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}
