import type { ConfigKey } from '../../core/routing/config.ts';
import type { AddressRange } from '../../core/text/ip-address.ts';
import type { Transaction } from '../configuration.ts';
import type { ForwardedPolicy } from '../messages/forwarding-fields.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import type { SharedTallies } from '../limits/shared-tally.ts';
import type { ConfigProblem } from '../proxy.ts';
import type { ProxyProtocolSettings } from '../proxy-protocol/settings.ts';
import type { SessionKeyMaterial } from '../sessions/session-keys.ts';
import type { Address } from '../sockets/address.ts';
import type { Ends } from '../layer4/own-connections.ts';
import type { NameReport } from '../upstream/external-names.ts';
import type { Suspension } from '../upstream/endpoints.ts';
import type { SharedCounters } from './shared-counters.ts';
import type { SharedTraces } from './shared-traces.ts';

// Messages between the main thread of a data plane and its workers. Each worker gets them in the order in which they were sent.

/** A certificate and its key, both PEM. */
export interface SentPair {
  readonly cert: string;
  readonly key: string;
}

/** A change that a worker makes as a whole. */
export interface WorkerChange extends Transaction {
  /** The addresses that listeners bind to in this worker, if they have changed. */
  readonly addresses: readonly (readonly [ConfigKey, readonly Address[]])[];
  /** New and changed certificates by Secret; `undefined` for those that are gone. */
  readonly certificates: readonly (readonly [string, SentPair | undefined])[];
}

/** Something that a worker does and answers. */
export type Task =
  | { readonly name: 'apply'; readonly change: WorkerChange }
  | { readonly name: 'close'; readonly graceMs: number; readonly idleMs: number };

/** Which connections, or which flows, a pass belongs to. */
export type PassScope = 'connections' | 'flows';

export type ToWorker =
  | { readonly type: 'task'; readonly id: number; readonly task: Task }
  | { readonly type: 'sessionKeys'; readonly keys: readonly SessionKeyMaterial[] }
  | { readonly type: 'traceKey'; readonly key: string | undefined }
  | { readonly type: 'retire' }
  | SuspensionMessage
  | { readonly type: 'looped'; readonly scope: PassScope; readonly pass: number };

/** A suspension of an endpoint, for all other workers. */
export interface SuspensionMessage {
  readonly type: 'suspension';
  readonly endpoint: string;
  readonly suspension: Suspension;
}

/** An event of a connection or flow between addresses of this machine; see `Passes`. */
export interface PassMessage {
  readonly type: 'pass';
  readonly scope: PassScope;
  readonly pass: number;
  readonly event: { readonly name: 'arrive' | 'open'; readonly ends: Ends } | { readonly name: 'leave' };
}

/** What is known about an error. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

/** The origin of an unexpected error in a worker, as in the metric of internal errors. */
export type FaultOrigin = 'exchange' | 'exception' | 'rejection';

export type FromWorker =
  | { readonly type: 'done'; readonly id: number; readonly problems: readonly ConfigProblem[] }
  | { readonly type: 'failed'; readonly id: number; readonly message: string }
  | { readonly type: 'fault'; readonly origin: FaultOrigin; readonly error: SentError | undefined }
  /** Whole lines of logs. */
  | { readonly type: 'lines'; readonly text: string }
  | { readonly type: 'name'; readonly report: NameReport }
  | SuspensionMessage
  | PassMessage;

/** All that a worker gets at its start. */
export interface WorkerData {
  readonly worker: number;
  readonly workers: number;
  readonly settings: WorkerSettings;
  readonly counters: SharedCounters;
  readonly tallies: SharedTallies;
  readonly traces: SharedTraces;
  /** The secret of which the keys of session tickets are derived. */
  readonly ticketSecret: Uint8Array;
  /** Per worker: how often its event loop has reported, and the characters of log lines that are not written yet. */
  readonly beats: SharedArrayBuffer;
  /** Milliseconds between two such reports. */
  readonly beat: number;
  readonly unwritten: SharedArrayBuffer;
  /** Whether requests and connections are logged. */
  readonly logs: boolean;
}

/** The settings of a data plane that are the same in all workers. */
export interface WorkerSettings {
  readonly forwarded?: ForwardedPolicy;
  readonly proxyProtocol?: ProxyProtocolSettings;
  readonly limits?: Partial<ProxyLimits>;
  readonly internalBackendNetworks?: readonly AddressRange[];
}
