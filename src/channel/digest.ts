import { hash } from 'node:crypto';
import type { Digest } from './messages.ts';

/**
 * Returns the fingerprint of a JSON value. Equal content has an equal fingerprint, regardless of the order of
 * properties. Undefined properties count as absent, as in JSON.
 */
export function digestOf(value: unknown): Digest {
  return hash('sha256', canonicalJson(value), 'base64url');
}

function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
