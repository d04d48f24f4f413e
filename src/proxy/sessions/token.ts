import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { SessionKey, SessionKeys } from './session-keys.ts';

/** The endpoint of a backend to which a client is assigned. Both are identified by 8 bytes in base64url. */
export interface Assignment {
  readonly backend: string;
  readonly endpoint: string;
  /** Start of the session with this endpoint, in milliseconds since 1970. */
  readonly started: number;
  /** Its end by the `absoluteTimeout` of the backend at the time of writing, likewise; Infinity: none. */
  readonly ends: number;
}

/** The content of a session cookie or header. */
export interface SessionState {
  /** The time at which the token was issued, in milliseconds since 1970. */
  readonly used: number;
  readonly assignments: readonly Assignment[];
}

// Key id, initialization vector, ciphertext, authentication tag. Plaintext: version, time, assignments.
const version = 2;
const keyIdBytes = 4;
const ivBytes = 12;
const tagBytes = 16;
const idBytes = 8;
const timeBytes = 6;
const headBytes = 1 + timeBytes;
const assignmentBytes = 2 * idBytes + 2 * timeBytes;
/** Stands for Infinity. */
const latestTime = 2 ** (8 * timeBytes) - 1;

/** A rule has at most this number of backendRefs, so a token never needs more assignments. */
const maxAssignments = 16;
const shortest = keyIdBytes + ivBytes + headBytes + tagBytes;
const longest = shortest + maxAssignments * assignmentBytes;
/** Maximum length of a token in characters. */
export const longestToken = Math.ceil((longest * 4) / 3);

const base64url = /^[A-Za-z0-9_-]+$/;

/**
 * Encrypts and authenticates a state (AES-256-GCM). The token is opaque, cannot be forged, and is valid only for the rule with
 * this identity. Keeps the newest assignments if there are too many.
 */
export function sealToken({ used, assignments }: SessionState, identity: string, key: SessionKey): string {
  const kept = assignments.toSorted((left, right) => right.started - left.started).slice(0, maxAssignments);
  const plain = Buffer.alloc(headBytes + kept.length * assignmentBytes);
  plain.writeUInt8(version, 0);
  plain.writeUIntBE(used, 1, timeBytes);
  for (const [index, { backend, endpoint, started, ends }] of kept.entries()) {
    const at = headBytes + index * assignmentBytes;
    plain.write(backend, at, idBytes, 'base64url');
    plain.write(endpoint, at + idBytes, idBytes, 'base64url');
    plain.writeUIntBE(started, at + 2 * idBytes, timeBytes);
    plain.writeUIntBE(Math.min(ends, latestTime), at + 2 * idBytes + timeBytes, timeBytes);
  }
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key.key, iv).setAAD(Buffer.from(identity));
  const sealed = [cipher.update(plain), cipher.final()];
  return Buffer.concat([Buffer.from(key.id, 'hex'), iv, ...sealed, cipher.getAuthTag()]).toString('base64url');
}

/** Reads a token from a client. `undefined` if it is malformed, forged, of another rule, or of a key that is gone. Never throws. */
export function openToken(
  token: string,
  identity: string,
  keys: SessionKeys,
): { readonly state: SessionState; readonly key: SessionKey } | undefined {
  if (token.length > longestToken || !base64url.test(token)) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length < shortest || (bytes.length - shortest) % assignmentBytes !== 0) return undefined;
  const key = keys.find(bytes.toString('hex', 0, keyIdBytes));
  const plain = key === undefined ? undefined : decrypt(bytes, identity, key);
  if (key === undefined || plain?.readUInt8(0) !== version) return undefined;
  return { state: readState(plain), key };
}

function decrypt(bytes: Buffer, identity: string, { key }: SessionKey): Buffer | undefined {
  const iv = bytes.subarray(keyIdBytes, keyIdBytes + ivBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    .setAAD(Buffer.from(identity))
    .setAuthTag(bytes.subarray(-tagBytes));
  const plain = decipher.update(bytes.subarray(keyIdBytes + ivBytes, -tagBytes));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

function readState(plain: Buffer): SessionState {
  const count = (plain.length - headBytes) / assignmentBytes;
  return {
    used: plain.readUIntBE(1, timeBytes),
    assignments: Array.from({ length: count }, (_, index) => {
      const at = headBytes + index * assignmentBytes;
      const ends = plain.readUIntBE(at + 2 * idBytes + timeBytes, timeBytes);
      return {
        ends: ends === latestTime ? Infinity : ends,
        backend: plain.toString('base64url', at, at + idBytes),
        endpoint: plain.toString('base64url', at + idBytes, at + 2 * idBytes),
        started: plain.readUIntBE(at + 2 * idBytes, timeBytes),
      };
    }),
  };
}
