import { schemaTables, type SchemaKind } from '../src/core/schema/kinds.ts';
import { nodeAt } from '../src/core/schema/locate.ts';
import type { Bundle } from '../src/core/schema/availability.ts';
import { nameOf, whereabouts } from '../src/core/schema/problem.ts';
import { versionsIn } from '../src/core/schema/compile.ts';
import type { KindTable } from '../src/core/schema/tables/table.ts';
import { controllerNameChanged } from '../src/core/rules/gateways/controller-name-changed.ts';
import type { Demand } from '../src/core/rules/engine/demand.ts';
import { immutableFields } from '../src/core/rules/official/changes.ts';
import { partsOf } from '../src/core/rules/official/sites.ts';
import { officialSites } from '../src/core/rules/official/table.ts';
import { coveredRules, rulesOfSchema } from './covered-rules.ts';
import type { OfficialBundle } from './official-crds.ts';
import { officialRules, type OfficialRule } from './official-rules.ts';

/** The result of a comparison. */
export interface RuleComparison {
  /** Number of official rules, counted once per location. */
  readonly compared: number;
  /** One text each: an official rule without a demand of ours, or a demand of ours without an official rule. */
  readonly differences: readonly string[];
}

/** Hash of an official rule → the demands that cover it. */
const demandsByRule = Map.groupBy(
  Object.entries(coveredRules).flatMap(([demand, hashes]) => hashes.map((hash) => ({ hash, demand }))),
  ({ hash }) => hash,
);

/** Compares the locations of the CEL rules in a bundle's CRDs with those of our demands, in both directions. */
export function compareRules(official: OfficialBundle): RuleComparison {
  const rules = officialRules(official);
  const ours = demandsIn(official.bundle);
  const missing = rules
    .filter((rule) => !isCovered(rule, ours))
    .map((rule) => `${placeOf(rule)}: nothing covers the rule ${rule.hash}: ${rule.text.trim()}`);
  const wanted = new Set(rules.flatMap((rule) => coveringDemands(rule).map((demand) => `${placeOf(rule)} ${demand}`)));
  const excess = ours
    .filter((demand) => !wanted.has(`${placeOf(demand)} ${demand.demand}`))
    .map((demand) => `${placeOf(demand)}: no official rule demands ${demand.demand}`);
  return { compared: rules.length, differences: [...missing, ...excess] };
}

type Place = Pick<OfficialRule, 'bundle' | 'kind' | 'version' | 'path'>;

interface PlacedDemand extends Place {
  readonly demand: string;
}

function demandsIn(bundle: Bundle): readonly PlacedDemand[] {
  return Object.values<KindTable>(schemaTables).flatMap((table) => demandsOf(table, bundle));
}

/** The bundles in which a rule has demands, for its page: `in the standard channel since v1.5 and in …`. */
export function inForce(rule: string): string {
  const place = whereabouts((bundle) => demandsIn(bundle).some(({ demand }) => demand.split('/')[0] === rule));
  return (place ?? 'nowhere').replace(/^(?:is|was) /, '');
}

function demandsOf(table: KindTable, bundle: Bundle): readonly PlacedDemand[] {
  return versionsIn(table, bundle).flatMap(({ name: version, body }) =>
    officialSites(table.kind as SchemaKind, version, bundle)
      // The tables of sites contain fields whether or not a bundle has them.
      .filter(({ path }) => nodeAt(body ?? table.body, partsOf(path), bundle) !== undefined)
      .flatMap(({ path, demands }) =>
        demands.map((demand) => ({ bundle, kind: table.kind, version, path, demand: demandName(demand) })),
      )
      .concat(
        demandsOfChange(table.kind as SchemaKind).map((path) => ({
          bundle,
          kind: table.kind,
          version,
          path,
          demand: controllerNameChanged.id,
        })),
      ),
  );
}

/** The immutable fields of a kind. */
function demandsOfChange(kind: SchemaKind): readonly string[] {
  const path = immutableFields[kind];
  return path === undefined ? [] : [path.join('.')];
}

/** `filter-repeated`, or `filter-repeated/cors` for a rule with several demands. */
function demandName({ rule, variant }: Demand): string {
  return variant === '' ? rule.id : `${rule.id}/${variant}`;
}

function isCovered(rule: OfficialRule, ours: readonly PlacedDemand[]): boolean {
  if (rulesOfSchema.includes(rule.hash)) return true;
  const covering = coveringDemands(rule);
  return ours.some((demand) => covering.includes(demand.demand) && placeOf(demand) === placeOf(rule));
}

function coveringDemands({ hash }: OfficialRule): readonly string[] {
  return (demandsByRule.get(hash) ?? []).map(({ demand }) => demand);
}

function placeOf({ bundle, kind, version, path }: Place): string {
  return `${nameOf(bundle)} ${kind} ${version} ${path}`;
}
