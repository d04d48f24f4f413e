import type { ConfigKey, ConfigResource } from '../core/routing/config.ts';

/**
 * What travels between a controller and its proxies, one JSON object a line. A stream begins with the proxy's
 * `hello`; the answer is what the proxy lacks and an `end` mark; from then on every change follows as it happens,
 * and the proxy acknowledges each transaction and each end mark.
 */
export type ToProxy = Transaction | End;
export type ToController = Hello | Acknowledge;

/**
 * What a listener terminates TLS with. Evaluation knows facts about certificates only, so that this kind exists on the
 * channel alone, and only where the proxy lives in another process.
 */
export interface CertificateResource {
  readonly kind: 'certificate';
  /** `certificate/<namespace>/<name>` of the Secret. */
  readonly key: ConfigKey;
  /** `namespace/name` of the Secret, as listeners name it. */
  readonly secret: string;
  /** PEM, the leaf first. Never logged. */
  readonly certificate: string;
  readonly privateKey: string;
}

/** Everything that is sent by key. */
export type ChannelResource = ConfigResource | CertificateResource;

/** A fingerprint of a resource's content; see `digestOf`. */
export type Digest = string;

/** What the proxy already holds, from an earlier stream, whoever served it. */
export interface Hello {
  readonly type: 'hello';
  readonly digests: Readonly<Record<ConfigKey, Digest>>;
}

/**
 * A change that is applied whole or not at all. Inside it, what is used stands before what uses it among the
 * upserts, and after it among the removals. Ids rise within a stream and mean nothing outside of it.
 */
export interface Transaction {
  readonly type: 'transaction';
  readonly id: number;
  readonly upserts: readonly { readonly digest: Digest; readonly resource: ChannelResource }[];
  readonly removals: readonly ConfigKey[];
}

/** The proxy now holds everything: it may call itself ready. Comes once in a stream. */
export interface End {
  readonly type: 'end';
  readonly id: number;
}

/** The proxy holds the state of `id`. The problems are all that it has at that moment, not only the new ones. */
export interface Acknowledge {
  readonly type: 'acknowledge';
  readonly id: number;
  readonly problems: readonly ResourceProblem[];
}

/** Why a resource does not work as it was sent, e.g. because its port is taken. */
export interface ResourceProblem {
  readonly key: ConfigKey;
  readonly message: string;
}

/** One end of a connection, as the other end sees it. Messages arrive in the order in which they were sent. */
export interface Peer<Message> {
  /** What it answers resolves when the message has been dealt with, for those who want to go easy on a slow end. Never rejects. */
  receive(message: Message): void | Promise<void>;
  /** The connection is gone; nothing more is sent to this end or accepted from it. */
  close(): void;
}
