import { controllerNameChanged } from '../gateways/controller-name-changed.ts';
import { rivalRules } from '../matches/match-taken.ts';
import { fieldPruned } from '../objects/field-pruned.ts';
import { refusedLater } from '../objects/refused-later.ts';
import { rulesOf } from '../official/sites.ts';
import { officialTables } from '../official/table.ts';
import { unservedKind } from '../support/unserved-kind.ts';
import { unenforcedTables } from '../unenforced/table.ts';
import { linkRules } from './link-rules.ts';
import type { ObjectRule, Rule } from './rule.ts';

// Rules that judge linked objects are listed, since their order decides. Rules that judge values are those of the tables.

/** All rules that look at objects as they are linked. An object's findings come in this order. */
export const objectRules: readonly ObjectRule[] = [...linkRules, ...rivalRules];

const judgingObjects: ReadonlySet<string> = new Set(objectRules.map(({ id }) => id));

/** Rules by which no bundle judges, or not every one. Status and traffic do not react to what they find, so only admission asks. */
export const unenforcedRules: readonly Rule[] = rulesOf(unenforcedTables).filter(({ id }) => !judgingObjects.has(id));

const judgingValues: ReadonlySet<string> = new Set(unenforcedRules.map(({ id }) => id));

/** Rules by which the API server of some bundle judges, and nothing of ours in other bundles. */
export const bundleRules: readonly Rule[] = rulesOf(officialTables).filter(({ id }) => !judgingObjects.has(id) && !judgingValues.has(id));

/** Rules about a write rather than an object: its change, what was dropped of it, its next release, its kind. */
export const writeRules: readonly Rule[] = [controllerNameChanged, fieldPruned, refusedLater, unservedKind];

/** Every rule that admission may have findings of, beside the schema's. */
export const allRules: readonly Rule[] = [...objectRules, ...bundleRules, ...unenforcedRules, ...writeRules];
