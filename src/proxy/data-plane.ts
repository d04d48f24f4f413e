import type { Routing } from '../core/routing/decision/decide.ts';
import type { AccessLogEntry } from './handling/access-log.ts';
import type { Tracing } from './messages/tracing.ts';
import type { CompiledRule } from './handling/compiled-rule.ts';
import type { ProxyCounters } from './counters.ts';
import type { EndpointRegistry } from './upstream/endpoints.ts';
import type { Forwarder } from './messages/forwarder.ts';
import type { ForwardedPolicy } from './messages/forwarding-fields.ts';
import type { ProxyLimits } from './limits/limits.ts';
import type { Quotas } from './limits/quota.ts';
import type { ConnectionLogEntry } from './layer4/connection-log.ts';
import type { Passes } from './layer4/own-connections.ts';
import type { Layer4Routes } from './layer4/routes.ts';
import type { ProxyProtocolSettings } from './proxy-protocol/settings.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { CertificateSource } from './listen/identities.ts';
import type { TicketKeys } from './listen/tls-termination.ts';

/** The shared state for handling requests. Routes and endpoints change underneath; a request keeps those that it has chosen. */
export interface DataPlane extends Routing<CompiledRule> {
  readonly endpoints: EndpointRegistry;
  readonly layer4: Layer4Routes;
  readonly ownConnections: Passes;
  /** The same for UDP flows. */
  readonly ownFlows: Passes;
  readonly forwarder: Forwarder;
  /** Client certificates for backends, by Secret. */
  readonly certificates: CertificateSource;
  /** Milliseconds of the monotonic clock: requests, retry budgets and the state of endpoints use it. */
  readonly now: () => number;
  readonly sessions: Sessions;
  /** If undefined, each port has its own keys for session tickets. */
  readonly ticketKeys?: TicketKeys | undefined;
  /** Whether other threads listen on the same ports. */
  readonly sharesPorts?: boolean;
  readonly limits: ProxyLimits;
  readonly quotas: Quotas;
  readonly tracing: Tracing;
  readonly forwardedPolicy: ForwardedPolicy;
  readonly proxyProtocol: ProxyProtocolSettings;
  readonly counters: ProxyCounters;
  /** Receives unexpected errors; the affected exchange or connection has been ended. Never throws. */
  readonly fault: (error: unknown) => void;
  readonly accessLog: ((entry: AccessLogEntry) => void) | undefined;
  readonly connectionLog: ((entry: ConnectionLogEntry) => void) | undefined;
}
