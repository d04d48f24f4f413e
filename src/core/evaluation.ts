import { permissions } from './graph/grants.ts';
import { slicesOfService } from './graph/backends/endpoints.ts';
import { policiesOfTarget } from './graph/backends/backend-policies.ts';
import { policiesOfHostname } from './graph/matches/hostname-policies.ts';
import { listenerSetsOfGateway } from './graph/listeners/listener-sets.ts';
import { strata } from './graph/strata.ts';
import { createKernel, type Kernel } from './incremental/index.ts';
import type { Emission } from './incremental/reader.ts';
import { expressionsOfGateway, firstWithoutRoom } from './rules/matches/data-plane-expressions.ts';
import { matchesOfListener, routesOfHostname } from './rules/matches/match-places.ts';
import { winnersOfRequests } from './rules/matches/taken-requests.ts';
import { gatewaysOfService, portsInUse } from './rules/engine/backend-users.ts';
import { routesOfListener } from './rules/engine/validity.ts';

/**
 * Creates the evaluation that all entry points share: objects are written as input cells, followed results are read as
 * emissions, and admission queries overlays.
 *
 * @param emissions results to follow. Each is updated for every object, which costs time and memory. Findings can be read
 * without any
 */
export function createEvaluation(emissions: readonly Emission<unknown>[]): Kernel {
  const highest = Math.max(strata.findings, ...emissions.map(({ stratum }) => stratum));
  return createKernel({ indexes: indexes.filter(({ stratum }) => stratum < highest), emissions });
}

/** An index can only be read from a higher stratum, so those at or above the highest stratum in use are left out. */
const indexes = [
  permissions,
  policiesOfHostname,
  listenerSetsOfGateway,
  policiesOfTarget,
  slicesOfService,
  expressionsOfGateway,
  firstWithoutRoom,
  routesOfHostname,
  matchesOfListener,
  winnersOfRequests,
  routesOfListener,
  portsInUse,
  gatewaysOfService,
];
