import { permissions } from './graph/grants.ts';
import { slicesOfService } from './graph/backends.ts';
import { policiesOfService } from './graph/backend-policies.ts';
import { listenerSetsOfGateway } from './graph/listener-sets.ts';
import { createKernel, type Kernel } from './incremental/index.ts';
import { configuration } from './routing/emit.ts';
import { infrastructure } from './routing/infrastructure.ts';
import { gatewaysOfService, portsInUse, routesOfListener } from './rules/validity.ts';
import { statuses } from './status/emit.ts';

/**
 * The one evaluation that every door shares: objects go in as input cells, statuses and configuration come out as
 * emissions, and admission asks on overlays.
 */
export function createEvaluation(): Kernel {
  return createKernel({ indexes: [permissions, listenerSetsOfGateway, policiesOfService, slicesOfService, routesOfListener, portsInUse, gatewaysOfService], emissions: [configuration, infrastructure, statuses] });
}
