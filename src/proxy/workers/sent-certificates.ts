import { secretOf, secretsOf, type ConfigKey, type ConfigResource } from '../../core/routing/config.ts';
import type { Transaction } from '../configuration.ts';
import type { CertificateSource } from '../listen/identities.ts';
import type { SentPair, WorkerChange } from './messages.ts';

/** The certificates that the workers of a data plane have, because listeners or connections to endpoints need them. */
export class SentCertificates {
  private readonly source: CertificateSource;
  /** Secrets by the listener or the endpoints that need their certificates. */
  private readonly needed = new Map<ConfigKey, readonly string[]>();
  private sent: ReadonlyMap<string, SentPair> = new Map();

  constructor(source: CertificateSource) {
    this.source = source;
  }

  /** Notes what a transaction needs. Returns whether other certificates may be needed than before. */
  note({ upserts, removals }: Transaction): boolean {
    let isOther = false;
    for (const key of removals) isOther = this.needed.delete(key) || isOther;
    for (const resource of upserts) {
      const [before, now] = [this.needed.get(resource.key) ?? [], secretsFor(resource)];
      if (before.length === now.length && now.every((secret, index) => secret === before[index])) continue;
      isOther = true;
      if (now.length === 0) this.needed.delete(resource.key);
      else this.needed.set(resource.key, now);
    }
    return isOther;
  }

  /** Reads all needed certificates, and returns those that differ from what the workers have. They count as sent. */
  takeChanges(): WorkerChange['certificates'] {
    const current = new Map<string, SentPair>();
    for (const secret of new Set([...this.needed.values()].flat())) {
      const pair = this.source(secret);
      if (pair !== undefined) current.set(secret, { cert: String(pair.cert), key: String(pair.key) });
    }
    const before = this.sent;
    this.sent = current;
    const changed = [...current].filter(
      ([secret, { cert, key }]) => before.get(secret)?.cert !== cert || before.get(secret)?.key !== key,
    );
    const gone = [...before.keys()].filter((secret) => !current.has(secret));
    return [...changed, ...gone.map((secret) => [secret, undefined] as const)];
  }

  /** All certificates, for a new worker. */
  get all(): WorkerChange['certificates'] {
    return [...this.sent];
  }
}

function secretsFor(resource: ConfigResource): readonly string[] {
  if (resource.kind === 'listener') return secretsOf(resource);
  const secret = resource.kind === 'endpoints' ? secretOf(resource) : undefined;
  return secret === undefined ? [] : [secret];
}
