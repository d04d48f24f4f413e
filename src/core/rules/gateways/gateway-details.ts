// What Gateways and their classes say beside listeners.

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
