export interface Address {
  readonly type?: string;
  readonly value?: string;
}
