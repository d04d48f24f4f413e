import type { ObjectRef } from '../core/resources/reference.ts';

/** An object as the API server stores it. Only its identity is guaranteed. */
export interface WireObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: WireMetadata;
  readonly [field: string]: unknown;
}

export interface WireMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** A change of an object in the cluster. */
export type ObjectChange =
  | { readonly type: 'upsert'; readonly ref: ObjectRef; readonly object: WireObject }
  | { readonly type: 'delete'; readonly ref: ObjectRef };

/** The result of a write. `message` comes from the API server. */
export type WriteResult =
  | { readonly type: 'ok'; readonly object?: WireObject }
  | {
      /** `conflict`: another writer was faster; `unavailable`: the outcome is unknown. */
      readonly type: 'conflict' | 'exists' | 'notFound' | 'forbidden' | 'invalid' | 'unavailable';
      readonly message: string;
    };

/** The content of an Event about an object. */
export interface EventNote {
  readonly regarding: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
  };
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, like `action`. */
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** Records events. Drops them if there are too many. */
export interface EventSink {
  record(note: EventNote): void;
}

/** Writes to the cluster, and reads that writes depend on. No method rejects. */
export interface ClusterWriter {
  /** Reads the current object of this kind and name. */
  read(object: WireObject): Promise<WriteResult>;
  /** Replaces the finalizers of an object. `conflict` if `metadata.resourceVersion` is outdated. */
  setFinalizers(kind: string, object: WireObject): Promise<WriteResult>;
  /** Replaces the status of an object. `conflict` if `metadata.resourceVersion` is outdated. */
  updateStatus(kind: string, object: WireObject): Promise<WriteResult>;
  /** Server-side apply, with force: takes over fields from other managers. */
  apply(object: WireObject): Promise<WriteResult>;
  /** Deletes an object by kind and name, and by uid if given. */
  remove(object: WireObject): Promise<WriteResult>;
}
