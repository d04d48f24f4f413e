import { randomBytes } from 'node:crypto';
import { isRecord } from '../core/text/record.ts';
import type { Logger } from '../telemetry/index.ts';
import { startRounds, type Rounds } from './rounds.ts';
import type { SecretStore, SecretText } from './stores.ts';
import { wallNow } from '../time/clock.ts';

/** A key for the sessions of all data planes. Each data plane gets a key that is derived from it. */
export interface SessionKeyMaterial {
  /** Four bytes in hexadecimal. */
  readonly id: string;
  /** 32 bytes in base64url. Never logged. */
  readonly secret: string;
  /** Milliseconds since 1970 from which new sessions use it. */
  readonly from: number;
}

interface KeyringOptions {
  readonly secrets: SecretStore;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const day = 86_400_000;
/** A key is used for new sessions for a month. */
const period = 30 * day;
/** A new key is known for this time before it is used, so that all data planes have it. */
const propagation = 10 * 60_000;
/** Sessions of a former key are valid for this time. Each use renews a session with the current key. */
const retention = 90 * day;
const entry = 'keys.json';

/** Creates a random key. */
export function createSessionKey(from: number): SessionKeyMaterial {
  return { id: randomBytes(4).toString('hex'), secret: randomBytes(32).toString('base64url'), from };
}

/** Returns the keys that should exist at a time: a new one in time, and without those that no session uses any more. */
export function renewedKeys(keys: readonly SessionKeyMaterial[], now: number): readonly SessionKeyMaterial[] {
  const sorted = keys.toSorted((left, right) => left.from - right.from);
  const newest = sorted.at(-1);
  // Without any key there are no sessions to keep, so the first one is used at once.
  if (newest === undefined) return [createSessionKey(now)];
  const all = now >= newest.from + period ? [...sorted, createSessionKey(now + propagation)] : sorted;
  return all.filter((_, index) => {
    const successor = all[index + 1];
    return successor === undefined || now < successor.from + retention;
  });
}

/**
 * Keeps the keys for sessions in a Secret, and renews them. Every replica of the controller runs it; concurrent runs do no harm,
 * because writes use optimistic locking.
 */
export class SessionKeyring {
  private readonly options: KeyringOptions;
  private readonly listeners = new Set<(keys: readonly SessionKeyMaterial[]) => void>();
  private readonly firstAttempt = Promise.withResolvers<void>();
  private keys: readonly SessionKeyMaterial[] = [];

  constructor(options: KeyringOptions) {
    this.options = options;
  }

  /** Resolves after the first round, whether it succeeded or not: without keys, data planes serve without session persistence. */
  get attempted(): Promise<void> {
    return this.firstAttempt.promise;
  }

  /** Calls `listener` with the keys, now and after each change. */
  onKeys(listener: (keys: readonly SessionKeyMaterial[]) => void): void {
    this.listeners.add(listener);
    if (this.keys.length > 0) listener(this.keys);
  }

  /** Renews the keys until `stop`. */
  start(): Rounds {
    const { secrets, log } = this.options;
    return startRounds(() => this.round(), {
      longest: 60 * 60_000,
      retry: 1_000,
      onError: (err) => {
        log.warn({ err }, 'cannot read or write the keys for session persistence, will retry');
        this.firstAttempt.resolve();
      },
      wakeOn: [(listener) => secrets.onChange(listener)],
    });
  }

  /**
   * Reads the keys, and renews them if necessary.
   *
   * @returns milliseconds until the next round
   * @throws if the store is unreachable
   */
  async round(): Promise<number> {
    const { secrets, log, now = wallNow } = this.options;
    const stored = await secrets.read();
    // A Secret that was lost or damaged gets the keys that this replica knows, so that sessions stay valid.
    const present = (stored && readKeys(stored.data)) ?? this.keys;
    const wanted = renewedKeys(present, now());
    if (stored === undefined || JSON.stringify(wanted) !== JSON.stringify(readKeys(stored.data))) {
      const data = { [entry]: JSON.stringify({ version: 1, keys: wanted }) };
      const outcome = stored === undefined ? await secrets.create(data) : await secrets.replace(data, stored.version);
      // Another replica was faster.
      if (outcome === 'conflict') return 0;
      log.info({ keys: wanted.length }, 'keys for session persistence renewed');
    }
    if (JSON.stringify(wanted) !== JSON.stringify(this.keys)) {
      this.keys = wanted;
      for (const listener of this.listeners) listener(wanted);
    }
    this.firstAttempt.resolve();
    return day;
  }
}

/** `undefined` for a Secret without valid keys. Never throws. */
function readKeys(data: SecretText): readonly SessionKeyMaterial[] | undefined {
  let json: unknown;
  try {
    json = JSON.parse(data[entry] ?? '');
  } catch {
    return undefined;
  }
  const keys = isRecord(json) && json['version'] === 1 ? json['keys'] : undefined;
  return Array.isArray(keys) && keys.length > 0 && keys.every(isKey) ? keys : undefined;
}

function isKey(json: unknown): json is SessionKeyMaterial {
  return (
    isRecord(json) &&
    typeof json['id'] === 'string' &&
    /^[0-9a-f]{8}$/.test(json['id']) &&
    typeof json['secret'] === 'string' &&
    Buffer.from(json['secret'], 'base64url').length === 32 &&
    typeof json['from'] === 'number' &&
    Number.isFinite(json['from'])
  );
}
