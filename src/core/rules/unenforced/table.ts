import { schemaTables, type SchemaKind } from '../../schema/index.ts';
import { metadataSyntax } from '../objects/metadata-syntax.ts';
import { kindsByRule, type SiteGroup, type SiteTables } from '../official/sites.ts';
import { unenforcedGatewayTables } from './gateways.ts';
import { unenforcedPolicyTables } from './policies.ts';
import { unenforcedRouteTables } from './routes.ts';

/** The sites of rules that no bundle enforces, or not every bundle, by kind. */
export const unenforcedTables: SiteTables = withEveryKind({
  ...unenforcedRouteTables,
  ...unenforcedGatewayTables,
  ...unenforcedPolicyTables,
});

function withEveryKind(tables: SiteTables): SiteTables {
  const everywhere: SiteGroup = { sites: { '': [metadataSyntax] } };
  return Object.fromEntries(
    (Object.keys(schemaTables) as SchemaKind[]).map((kind) => [kind, [everywhere, ...(tables[kind] ?? [])]]),
  );
}

/** The kinds that each of these rules checks: rule id → kinds. */
export const unenforcedKinds: ReadonlyMap<string, readonly SchemaKind[]> = kindsByRule(unenforcedTables);
