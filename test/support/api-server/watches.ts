import type { ServerResponse } from 'node:http';
import { statusOf, Refusal, type Json } from './object.ts';
import { matches, type Filter } from './selectors.ts';
import type { Change, Store } from './store.ts';

export interface Subscription extends Filter {
  readonly resource: string;
  readonly present: (object: Json) => Json;
  readonly bookmarks: boolean;
  readonly timeoutSeconds: number;
}

interface Open {
  readonly subscription: Subscription;
  readonly response: ServerResponse;
  /** Nothing before this version is sent. */
  readonly from: number;
}

/** All watches that are open, and what can become of them. */
export class Watches {
  private readonly store: Store;
  private readonly all = new Set<Open>();

  constructor(store: Store) {
    this.store = store;
    store.onChange((change) => {
      for (const open of this.all) if (change.version > open.from) send(open, change);
    });
  }

  get count(): number {
    return this.all.size;
  }

  /** Begins a watch after `version`; `''` and `0` begin with all that there is. */
  open(subscription: Subscription, version: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    const isFresh = version === '' || version === '0';
    const open = { subscription, response, from: isFresh ? 0 : Number(version) };
    if (!isFresh && Number(version) < this.store.oldest) {
      const gone = new Refusal(410, 'Expired', `too old resource version: ${version} (${this.store.oldest})`);
      response.end(`${JSON.stringify({ type: 'ERROR', object: statusOf(gone) })}\n`);
      return;
    }
    response.flushHeaders();
    const past = isFresh
      ? this.store
          .list(subscription.resource)
          .map((object): Change => ({ type: 'ADDED', resource: subscription.resource, version: 0, object }))
      : this.store.since(Number(version));
    for (const change of past) send(open, change);
    this.all.add(open);
    const timer = setTimeout(() => this.finish(open), subscription.timeoutSeconds * 1000);
    response.on('close', () => {
      clearTimeout(timer);
      this.all.delete(open);
    });
  }

  /** Says how far we are to everybody who asked for it. */
  bookmark(): void {
    const object = { metadata: { resourceVersion: String(this.store.version), creationTimestamp: null } };
    for (const { response, subscription, from } of this.all) {
      if (subscription.bookmarks && this.store.version >= from)
        response.write(`${JSON.stringify({ type: 'BOOKMARK', object: subscription.present(object) })}\n`);
    }
  }

  /** Writes anything at all, lines or parts of them. */
  write(text: string): void {
    for (const { response } of this.all) response.write(text);
  }

  /** Ends watches as the API server does after their time; of one resource where it is told. */
  end(resource?: string): void {
    for (const open of this.all)
      if (resource === undefined || resource === open.subscription.resource) this.finish(open);
  }

  /** A slow client gets what was written before, and nothing that follows. */
  private finish(open: Open): void {
    this.all.delete(open);
    open.response.end();
  }

  /** Resets the connections. */
  cut(): void {
    for (const { response } of this.all) response.destroy();
  }
}

function send({ subscription, response }: Open, { type, resource, object, before }: Change): void {
  if (resource !== subscription.resource) return;
  const isIn = type !== 'DELETED' && matches(object, subscription);
  const wasIn = type !== 'ADDED' && before !== undefined && matches(before, subscription);
  if (!isIn && !wasIn) return;
  const seen = !isIn ? 'DELETED' : wasIn ? 'MODIFIED' : 'ADDED';
  response.write(`${JSON.stringify({ type: seen, object: subscription.present(object) })}\n`);
}
