import { hash } from 'node:crypto';
import type { Digest } from './messages.ts';

/** The fingerprint of a JSON value, and its bytes as JSON. */
export interface Fingerprint {
  readonly digest: Digest;
  readonly bytes: number;
}

/**
 * Returns the fingerprint of a JSON value. Equal content has an equal fingerprint, regardless of the order of
 * properties. Undefined properties count as absent, as in JSON.
 */
export function fingerprintOf(value: unknown): Fingerprint {
  const json = canonicalJson(value);
  return { digest: hash('sha256', json, 'base64url'), bytes: Buffer.byteLength(json) };
}

/** Returns only the digest of that fingerprint. */
export function digestOf(value: unknown): Digest {
  return fingerprintOf(value).digest;
}

function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  // A change of a Gateway may concern thousands of routes. Concatenation takes less than lists of parts.
  let members = '';
  if (Array.isArray(value)) {
    for (const item of value) members += `${members === '' ? '' : ','}${canonicalJson(item)}`;
    return `[${members}]`;
  }
  for (const name of Object.keys(value).sort()) {
    const member: unknown = value[name as keyof typeof value];
    if (member !== undefined) members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}
