// ReferenceGrants that grant nothing, or more than they seem to.

export interface Party {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}
