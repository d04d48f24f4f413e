import { createSecretKey, type KeyObject } from 'node:crypto';

/** A key for sessions, as all replicas of a data plane share it. */
export interface SessionKeyMaterial {
  /** Four bytes in hexadecimal. */
  readonly id: string;
  /** 32 bytes in base64url. Never logged. */
  readonly secret: string;
  /** Milliseconds since 1970 from which new sessions use it. All replicas have it by then. */
  readonly from: number;
}

/** A key that is ready for use. */
export interface SessionKey {
  readonly id: string;
  readonly key: KeyObject;
  readonly from: number;
}

const form = /^[0-9a-f]{8}$/;
const keyBytes = 32;

/** The keys of a data plane. Older keys remain valid for sessions that exist already. */
export class SessionKeys {
  private keys: readonly SessionKey[] = [];

  /** Replaces all keys. Ignores keys that are malformed. */
  replace(materials: readonly SessionKeyMaterial[]): void {
    this.keys = materials
      .map(({ id, secret, from }) => ({ id, from, bytes: Buffer.from(secret, 'base64url') }))
      .filter(({ id, bytes }) => form.test(id) && bytes.length === keyBytes)
      .map(({ id, from, bytes }) => ({ id, from, key: createSecretKey(bytes) }))
      .sort((left, right) => left.from - right.from);
  }

  /** The key for new sessions: the newest one that is in use, or the oldest one if the clock is behind all of them. */
  current(now: number): SessionKey | undefined {
    return this.keys.findLast(({ from }) => from <= now) ?? this.keys[0];
  }

  find(id: string): SessionKey | undefined {
    return this.keys.find((key) => key.id === id);
  }
}
