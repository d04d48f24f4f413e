import type { SiteTables } from '../official/sites.ts';

export const unenforcedPolicyTables: SiteTables = {};
