import { hash } from 'node:crypto';
import type { Steps } from '../core/text/steps.ts';
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
  return fingerprintOfJson(canonicalJson(value));
}

function fingerprintOfJson(json: string): Fingerprint {
  return { digest: hash('sha256', json, 'base64url'), bytes: Buffer.byteLength(json) };
}

/** Items of a list that are read in one step. */
const stepItems = 1_000;

/** The same in steps, for values whose members may be long lists. */
export function* fingerprintInSteps(value: object): Steps<Fingerprint> {
  let members = '';
  for (const name of Object.keys(value).sort()) {
    const member: unknown = value[name as keyof typeof value];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(name)}:`;
    members += Array.isArray(member) ? yield* canonicalList(member) : canonicalJson(member);
  }
  return fingerprintOfJson(`{${members}}`);
}

function* canonicalList(items: readonly unknown[]): Steps<string> {
  let list = '';
  for (const [index, item] of items.entries()) {
    list += `${index === 0 ? '' : ','}${canonicalJson(item)}`;
    if (index % stepItems === stepItems - 1) yield;
  }
  return `[${list}]`;
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
