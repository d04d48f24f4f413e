import { isJson, Refusal, type Json, type StoredObject } from './object.ts';
import { matches, type Filter } from './selectors.ts';
import type { Store } from './store.ts';

/** Lists in pages, each list consistent with the moment at which it began. */
export class Lists {
  private readonly store: Store;
  private readonly continued = new Map<string, { rest: readonly StoredObject[]; version: number }>();
  private serial = 0;

  constructor(store: Store) {
    this.store = store;
  }

  /** Makes all lists that are under way expire. */
  forget(): void {
    this.continued.clear();
  }

  page(resource: string, filter: Filter, query: URLSearchParams): { items: readonly StoredObject[]; metadata: Json } {
    const token = query.get('continue') ?? '';
    const fresh = {
      rest: this.store.list(resource).filter((object) => matches(object, filter)),
      version: this.store.version,
    };
    const list = token === '' ? fresh : this.continued.get(token);
    if (list === undefined) throw new Refusal(410, 'Expired', 'The provided continue parameter is too old');
    const limit = Number(query.get('limit') ?? '0') || list.rest.length;
    const rest = list.rest.slice(limit);
    const metadata: Json = { resourceVersion: String(list.version) };
    if (rest.length > 0) {
      this.serial += 1;
      metadata['continue'] = `page-${this.serial}`;
      this.continued.set(`page-${this.serial}`, { rest, version: list.version });
    }
    return { items: list.rest.slice(0, limit), metadata };
  }
}

/** What of an object travels: all of it in the version asked for, or its metadata alone. */
export function presenter(accept: string, apiVersion: string): (object: Json) => Json {
  if (!accept.includes('as=PartialObjectMetadata')) return (object) => ({ ...object, apiVersion });
  return (object) => ({
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: isJson(object['metadata']) ? object['metadata'] : {},
  });
}
