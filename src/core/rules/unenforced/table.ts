import type { SchemaKind } from '../../schema/index.ts';
import { kindsByRule, type SiteTables } from '../official/sites.ts';
import { unenforcedGatewayTables } from './gateways.ts';
import { unenforcedPolicyTables } from './policies.ts';
import { unenforcedRouteTables } from './routes.ts';

/** By kind, where the rules look that no bundle enforces, or not every one. */
export const unenforcedTables: SiteTables = { ...unenforcedRouteTables, ...unenforcedGatewayTables, ...unenforcedPolicyTables };

/** The kinds that each of these rules looks at: rule id → kinds. */
export const unenforcedKinds: ReadonlyMap<string, readonly SchemaKind[]> = kindsByRule(unenforcedTables);
