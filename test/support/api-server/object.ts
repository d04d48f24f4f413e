/** Objects as the fake API server keeps them: plain JSON that it may change. */
export type Json = Record<string, unknown>;

export interface StoredObject extends Json {
  metadata: StoredMetadata;
}

export interface StoredMetadata extends Json {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function record(value: unknown): Json {
  return isJson(value) ? value : {};
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A failure that becomes a Status object. */
export class Refusal extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: Json;

  constructor(code: number, reason: string, message: string, details: Json = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

export function statusOf({ code, reason, message, details }: Refusal): Json {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, details, code };
}
