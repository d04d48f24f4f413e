// What listeners say that has no effect, or another one than it seems.

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
