import { controllerNameChanged } from '../gateways/controller-name-changed.ts';
import { rivalRules } from '../matches/rival-rules.ts';
import { fieldPruned } from '../objects/field-pruned.ts';
import { refusedLater } from '../objects/refused-later.ts';
import { rulesOf } from '../official/sites.ts';
import { officialTables } from '../official/table.ts';
import { unservedKind } from '../support/unserved-kind.ts';
import { unenforcedTables } from '../unenforced/table.ts';
import { linkRules } from './link-rules.ts';
import type { ObjectRule, Rule } from './rule.ts';

// Rules about linked objects are listed in order, because their order matters. Rules about values are those in the tables.

/** All rules about linked objects. The findings of an object have this order. */
export const objectRules: readonly ObjectRule[] = [...linkRules, ...rivalRules];

const judgingObjects: ReadonlySet<string> = new Set(objectRules.map(({ id }) => id));

/** Rules that no bundle enforces, or not every bundle. Status and traffic do not react to their findings, so only admission runs them. */
export const unenforcedRules: readonly Rule[] = rulesOf(unenforcedTables).filter(({ id }) => !judgingObjects.has(id));

const judgingValues: ReadonlySet<string> = new Set(unenforcedRules.map(({ id }) => id));

/** Rules that the API server enforces with some bundle, and that Sallyport does not apply with others. */
export const bundleRules: readonly Rule[] = rulesOf(officialTables).filter(
  ({ id }) => !judgingObjects.has(id) && !judgingValues.has(id),
);

/** Rules about a write, not about an object: the change, pruned fields, the newest bundle, an unserved kind. */
export const writeRules: readonly Rule[] = [controllerNameChanged, fieldPruned, refusedLater, unservedKind];

/** All rules that can have findings in admission, except for the schema's. */
export const allRules: readonly Rule[] = [...objectRules, ...bundleRules, ...unenforcedRules, ...writeRules];
