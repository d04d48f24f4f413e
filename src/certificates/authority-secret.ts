import { isRecord } from '../core/text/record.ts';
import { bundleOf, type AuthorityState, type RetiredAuthority, type SigningAuthority } from './rotation.ts';
import { joinPem } from './pem.ts';
import type { SecretText } from './stores.ts';

/** Authorities as read from a Secret. Problems never quote the content of the Secret. */
export type ReadAuthorities =
  | { readonly type: 'state'; readonly state: AuthorityState }
  | { readonly type: 'unreadable'; readonly problem: string };

const entry = 'authorities.json';

/** The data of the Secret: one JSON document, written as a whole, and `ca.crt` with the trusted certificates for people and other tools. */
export function writeAuthorities(state: AuthorityState): SecretText {
  return { [entry]: JSON.stringify({ version: 1, ...state }), 'ca.crt': joinPem(bundleOf(state)) };
}

/** Reads the data that `writeAuthorities` wrote. Never throws. */
export function readAuthorities(data: SecretText): ReadAuthorities {
  const json = parseJson(data[entry]);
  if (!isRecord(json)) return { type: 'unreadable', problem: `${entry} is missing or not a JSON object` };
  if (json['version'] !== 1) return { type: 'unreadable', problem: `${entry} has another version than 1` };
  const { current, next, retired } = json;
  if (current !== undefined && !isSigning(current))
    return { type: 'unreadable', problem: `current in ${entry} is incomplete` };
  if (next !== undefined && !isSigning(next)) return { type: 'unreadable', problem: `next in ${entry} is incomplete` };
  if (!Array.isArray(retired) || !retired.every(isRetired))
    return { type: 'unreadable', problem: `retired in ${entry} is incomplete` };
  return { type: 'state', state: { ...(current && { current }), ...(next && { next }), retired } };
}

function isSigning(json: unknown): json is SigningAuthority {
  return (
    isRecord(json) &&
    isText(json['certificate']) &&
    isText(json['privateKey']) &&
    isTime(json['issuedAt']) &&
    isTime(json['notAfter'])
  );
}

function isRetired(json: unknown): json is RetiredAuthority {
  return isRecord(json) && isText(json['certificate']) && isTime(json['until']);
}

function isText(json: unknown): json is string {
  return typeof json === 'string' && json !== '';
}

function isTime(json: unknown): json is number {
  return typeof json === 'number' && Number.isFinite(json);
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
