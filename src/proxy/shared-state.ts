import type { ProxyCounters } from './counters.ts';
import type { Passes } from './layer4/own-connections.ts';
import type { TallySource } from '../fairness/tally.ts';
import type { TicketKeys } from './listen/tls-termination.ts';
import type { UsedTraces } from './messages/tracing.ts';
import type { ThreadedEndpoints } from './upstream/endpoints.ts';

/** The state that the threads of a data plane have in common (docs/adr/0020-workers.md). */
export interface SharedState extends ThreadedEndpoints {
  readonly counters: ProxyCounters;
  readonly tally: TallySource;
  readonly traces: UsedTraces;
  readonly ownConnections: Passes;
  readonly ownFlows: Passes;
  readonly ticketKeys: TicketKeys;
}
