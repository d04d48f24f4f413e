// Listener fields without effect, or with an unexpected one.

export interface Reference {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
}

export interface Listener {
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: string;
  readonly tls?: { readonly mode?: string; readonly certificateRefs?: readonly Reference[] };
}
