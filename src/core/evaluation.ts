import { permissions } from './graph/grants.ts';
import { slicesOfService } from './graph/backends.ts';
import { policiesOfService } from './graph/backend-policies.ts';
import { listenerSetsOfGateway } from './graph/listener-sets.ts';
import { strata } from './graph/strata.ts';
import { createKernel, type Kernel } from './incremental/index.ts';
import type { Emission } from './incremental/reader.ts';
import { expressionsOfGateway } from './rules/matches/data-plane-expressions.ts';
import { matchesOfListener, routesOfHostname } from './rules/matches/match-places.ts';
import { gatewaysOfService, portsInUse, routesOfListener } from './rules/engine/validity.ts';

/**
 * The one evaluation that every door shares: objects go in as input cells, what the door wants to follow comes out as
 * emissions, and admission asks on overlays.
 *
 * @param emissions each is kept up to date for every object, and so costs time and memory. Without any, findings can be read
 */
export function createEvaluation(emissions: readonly Emission<unknown>[]): Kernel {
  const highest = Math.max(strata.findings, ...emissions.map(({ stratum }) => stratum));
  return createKernel({ indexes: indexes.filter(({ stratum }) => stratum < highest), emissions });
}

/** An index is read from above it only: where nothing is followed that lies there, it need not be kept. */
const indexes = [permissions, listenerSetsOfGateway, policiesOfService, slicesOfService, expressionsOfGateway, routesOfHostname, matchesOfListener, routesOfListener, portsInUse, gatewaysOfService];
