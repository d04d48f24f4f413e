import type { ObjectRef } from '../core/resources/reference.ts';

/** An object as the API server stores it. Only identity is sure. */
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

/** What became of an object of the cluster. */
export type ObjectChange =
  | { readonly type: 'upsert'; readonly ref: ObjectRef; readonly object: WireObject }
  | { readonly type: 'delete'; readonly ref: ObjectRef };

/** What became of a write; `message` is the API server's. */
export type WriteResult =
  | { readonly type: 'ok'; readonly object?: WireObject }
  | {
      /** `conflict`: somebody was quicker; `unavailable`: nobody knows whether it was done. */
      readonly type: 'conflict' | 'exists' | 'notFound' | 'forbidden' | 'invalid' | 'unavailable';
      readonly message: string;
    };

/** Something to tell people about an object. */
export interface EventNote {
  readonly regarding: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly namespace?: string; readonly uid?: string };
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, like `action`. */
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** Takes events; drops them where there are too many. */
export interface EventSink {
  record(note: EventNote): void;
}

/** Writes to the cluster, and what has to be known before. None of them rejects. */
export interface ClusterWriter {
  /** The object of this kind and name as it is now. */
  read(object: WireObject): Promise<WriteResult>;
  /** Replaces the finalizers of the object of that kind, `metadata.resourceVersion` being a condition. */
  setFinalizers(kind: string, object: WireObject): Promise<WriteResult>;
  /** Replaces the status of the object of that kind, `metadata.resourceVersion` being a condition. */
  updateStatus(kind: string, object: WireObject): Promise<WriteResult>;
  /** Server-side apply; takes fields over from other managers. */
  apply(object: WireObject): Promise<WriteResult>;
  /** Deletes the object of this kind and name, and uid where that is given. */
  remove(object: WireObject): Promise<WriteResult>;
}
