import type { ConfigKey, ConfigResource } from '../core/routing/config.ts';

/**
 * Messages between a controller and its proxies, one JSON object per line. A stream begins with the proxy's `hello`.
 * The controller responds with the resources that the proxy lacks and an `end` mark. Afterwards it sends every change
 * as it happens. The proxy acknowledges each transaction and each end mark.
 */
export type ToProxy = Transaction | End;
export type ToController = Hello | Acknowledge;

/**
 * The certificate and key with which a listener terminates TLS. Evaluation uses only facts about certificates, so this
 * kind exists only on the channel, and only if the proxy runs in another process.
 */
export interface CertificateResource {
  readonly kind: 'certificate';
  /** `certificate/<namespace>/<name>` of the Secret. */
  readonly key: ConfigKey;
  /** `namespace/name` of the Secret, as in listeners. */
  readonly secret: string;
  /** PEM, the leaf first. Never logged. */
  readonly certificate: string;
  readonly privateKey: string;
}

/** The keys for session persistence of one Gateway, sent only if a route uses it. Like certificates, they are unknown to the evaluation. */
export interface SessionKeysResource {
  readonly kind: 'sessionKeys';
  readonly key: typeof sessionKeysKey;
  readonly keys: readonly {
    readonly id: string;
    /** 32 bytes in base64url. Never logged. */
    readonly secret: string;
    /** Milliseconds since 1970 from which new sessions use it. */
    readonly from: number;
  }[];
}

/** The key of the only resource of its kind. */
export const sessionKeysKey = 'sessionKeys/current';

/** The key with which a proxy verifies traces (`traceKeyOf`). There is at most one. */
export interface TraceKeyResource {
  readonly kind: 'traceKey';
  /** `traceResourceKey` */
  readonly key: ConfigKey;
  /** Hexadecimal. Never logged. */
  readonly secret: string;
}

/** All resources that are sent by key. */
export type ChannelResource = ConfigResource | CertificateResource | SessionKeysResource | TraceKeyResource;

/** A fingerprint of a resource's content; see `digestOf`. */
export type Digest = string;

/** The resources that the proxy already holds, from an earlier stream of any controller, and what it can apply. */
export interface Hello {
  readonly type: 'hello';
  readonly digests: Readonly<Record<ConfigKey, Digest>>;
  /** See `capabilities`. Proxies of older builds send none. */
  readonly capabilities?: readonly string[];
}

/**
 * A change that is applied completely or not at all. Upserts are ordered with used resources before their users,
 * removals with users first. Ids increase within a stream and have no meaning outside of it.
 */
export interface Transaction {
  readonly type: 'transaction';
  readonly id: number;
  readonly upserts: readonly { readonly digest: Digest; readonly resource: ChannelResource }[];
  readonly removals: readonly ConfigKey[];
}

/** The proxy now holds the complete configuration and can become ready. Sent once per stream. */
export interface End {
  readonly type: 'end';
  readonly id: number;
}

/** The proxy holds the state of `id`. `problems` contains all current problems, not only new ones. */
export interface Acknowledge {
  readonly type: 'acknowledge';
  readonly id: number;
  readonly problems: readonly ResourceProblem[];
}

/** The reason why a resource does not work as it was sent, e.g. its port is in use. */
export interface ResourceProblem {
  readonly key: ConfigKey;
  readonly message: string;
}

/** One end of a connection, as seen by the other end. Messages arrive in the order in which they were sent. */
export interface Peer<Message> {
  /** The returned promise resolves when the message has been processed, for senders that slow down for a slow end. Never rejects. */
  receive(message: Message): void | Promise<void>;
  /** The connection is closed. Nothing more is sent to this end or accepted from it. */
  close(): void;
}
