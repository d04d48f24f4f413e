import { mostOfOne, SharedQuota } from '../fairness/shared-quota.ts';

/** The client and the user that bytes count for. */
export interface BodyOwner {
  /** The address of the client. */
  readonly client: string;
  readonly user: string;
}

/**
 * The bytes of all bodies. Clients have shares of them, by their address, and the users of a client have shares of what a single client
 * can hold: a client that invents users cannot keep the reviews of the API server out, and a user of the API server not those of others.
 */
export class BodyQuota {
  private readonly limit: number;
  private readonly clients: SharedQuota;
  /** The bytes of users, by their client. */
  private readonly users = new Map<string, SharedQuota>();

  constructor(limit: number) {
    this.limit = limit;
    this.clients = new SharedQuota(limit, doNothing);
  }

  /** Bytes that are in use. */
  get used(): number {
    return this.clients.used;
  }

  /** Acquires the whole amount or nothing; `false` if there is no room for this client or user. */
  take({ client, user }: BodyOwner, bytes: number): boolean {
    const users = this.users.get(client) ?? new SharedQuota(mostOfOne * this.limit, doNothing);
    if (!users.hasRoom(user, bytes) || !this.clients.take(client, bytes)) return false;
    this.users.set(client, users);
    return users.take(user, bytes);
  }

  release({ client, user }: BodyOwner, bytes: number): void {
    const users = this.users.get(client);
    users?.release(user, bytes);
    if (users?.used === 0) this.users.delete(client);
    this.clients.release(client, bytes);
  }
}

function doNothing(): void {}
