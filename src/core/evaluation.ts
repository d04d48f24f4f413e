import { permissions } from './graph/grants.ts';
import { slicesOfService } from './graph/backends.ts';
import { policiesOfService } from './graph/backend-policies.ts';
import { listenerSetsOfGateway } from './graph/listener-sets.ts';
import { createKernel, type Kernel } from './incremental/index.ts';
import type { Emission } from './incremental/reader.ts';
import { gatewaysOfService, portsInUse, routesOfListener } from './rules/validity.ts';

/**
 * The one evaluation that every door shares: objects go in as input cells, what the door wants to follow comes out as
 * emissions, and admission asks on overlays.
 *
 * @param emissions each is kept up to date for every object, and so costs time and memory
 */
export function createEvaluation(emissions: readonly Emission<unknown>[]): Kernel {
  return createKernel({ indexes: [permissions, listenerSetsOfGateway, policiesOfService, slicesOfService, routesOfListener, portsInUse, gatewaysOfService], emissions });
}
