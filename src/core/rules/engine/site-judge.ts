import { keyOf } from '../../incremental/key.ts';
import type { Path } from '../../resources/path.ts';
import { versionOf, type Bundle, type WrittenObject } from '../../schema/index.ts';
import { displayLimit, printable } from '../../text/display.ts';
import { isPresent, valueAt } from '../../text/record.ts';
import type { Demand, ReportViolation, Violation } from './demand.ts';
import { partsOf, sitesIn, type Site, type SiteTables } from '../official/sites.ts';
import { findingsPerRule, moreFindings } from './finding-limit.ts';
import { longestMessage, type Finding } from './rule.ts';

/**
 * Finds violations of the demands of several tables in an object. Walks the object once for all tables. The findings are
 * grouped by table, and within a table in the order of the object.
 *
 * @param view the object as the bundle reads it: only fields with the types of the kind's table
 */
export type SiteJudge<T extends string> = (
  object: WrittenObject,
  view: unknown,
  bundle: Bundle,
) => Readonly<Record<T, readonly Finding[]>>;

/** Creates a judge for tables of sites. It finds nothing in objects of versions that a bundle does not have, and never throws. */
export function siteJudge<T extends string>(tables: Readonly<Record<T, SiteTables>>): SiteJudge<T> {
  const names = Object.keys(tables) as T[];
  const nothing = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<T, readonly Finding[]>;
  // Sites never change, so their tree is built once for each version of a kind in a bundle.
  const known = new Map<string, LocationNode>();
  return ({ kind, apiVersion, json }, view, bundle) => {
    const version = versionOf(kind, apiVersion, bundle)?.name;
    if (version === undefined) return nothing;
    const key = keyOf([kind, version, bundle.minor, bundle.channel]);
    const root = known.get(key) ?? treeOf(names.map((name) => sitesIn(tables[name][kind], version, bundle)));
    known.set(key, root);
    const walk = new Walk();
    walk.visit(root, view);
    if (walk.found.length === 0) return nothing;
    walk.close();
    // A value of a wrong type, or a field that the bundle does not have, is not a missing value. The schema reports it.
    const found = walk.found.filter(({ finding: { path } }) => isPresent(valueAt(view, path)) || !isTaken(json, path));
    return Object.fromEntries(
      names.map((name, table) => [name, found.filter((each) => each.table === table).map(({ finding }) => finding)]),
    ) as unknown as Record<T, readonly Finding[]>;
  };
}

/** Returns whether a path has a value, or one of its parents has a value that cannot contain the rest of the path. */
function isTaken(json: unknown, path: Path): boolean {
  let current = json;
  for (const part of path) {
    if (typeof current !== 'object' || current === null || Array.isArray(current) !== (typeof part === 'number')) break;
    current = Object.hasOwn(current, part) ? (current as Readonly<Record<string | number, unknown>>)[part] : undefined;
  }
  return current !== undefined && current !== null;
}

/** Sites as a tree of the fields that lead to them, for walking an object. */
interface LocationNode {
  readonly checks: Check[];
  readonly below: { readonly name: string; readonly node: LocationNode }[];
  /** The items of a list. */
  each?: LocationNode;
}

interface Check {
  readonly demand: Demand<unknown>;
  /** The position of the table with the demand. */
  readonly table: number;
}

function treeOf(tables: readonly (readonly Site[])[]): LocationNode {
  const root = emptyNode();
  for (const [table, sites] of tables.entries()) {
    // A view has the types of its table, so the value at a site has the type that its demands expect.
    for (const { path, demands } of sites)
      nodeAt(root, path).checks.push(...demands.map((demand) => ({ demand: demand as Demand<unknown>, table })));
  }
  return root;
}

function nodeAt(root: LocationNode, path: string): LocationNode {
  let node = root;
  for (const part of partsOf(path)) node = typeof part === 'number' ? (node.each ??= emptyNode()) : fieldOf(node, part);
  return node;
}

function fieldOf({ below }: LocationNode, name: string): LocationNode {
  const known = below.find((field) => field.name === name);
  if (known !== undefined) return known.node;
  const node = emptyNode();
  below.push({ name, node });
  return node;
}

function emptyNode(): LocationNode {
  return { checks: [], below: [] };
}

/** One walk of an object. Almost all objects have no findings, so everything that only a finding needs exists once per walk. */
class Walk {
  readonly found: { readonly table: number; readonly finding: Finding }[] = [];
  /** The number of violations of each demand. A table has few demands, and each belongs to one rule. */
  private broken: Map<Check, number> | undefined;
  /** The current location of the walk. */
  private readonly path: (string | number)[] = [];
  private check: Check | undefined;
  private readonly report: ReportViolation = (violation) => {
    if (this.check === undefined) return;
    this.broken ??= new Map();
    const broken = (this.broken.get(this.check) ?? 0) + 1;
    this.broken.set(this.check, broken);
    if (broken > findingsPerRule) return;
    const { demand, table } = this.check;
    this.found.push({ table, finding: findingOf(demand.rule.id, violation, this.path) });
  };

  /** Adds a finding for those beyond the limit. */
  close(): void {
    for (const [{ demand, table }, broken] of this.broken ?? []) {
      if (broken > findingsPerRule)
        this.found.push({ table, finding: moreFindings(demand.rule.id, broken - findingsPerRule) });
    }
  }

  visit(node: LocationNode, value: unknown): void {
    for (const check of node.checks) {
      this.check = check;
      check.demand.judge(value, this.report);
    }
    if (typeof value !== 'object' || value === null) return;
    const { each } = node;
    if (each !== undefined && Array.isArray(value)) {
      for (let position = 0; position < value.length; position++) this.visitBelow(each, position, value[position]);
    }
    for (const { name, node: below } of node.below) {
      // No field has the name of a property of Object.prototype, and a check for own properties would take longer than the rest
      // of the walk.
      const inner = (value as Readonly<Record<string, unknown>>)[name];
      if (inner !== undefined) this.visitBelow(below, name, inner);
    }
  }

  private visitBelow(node: LocationNode, part: string | number, value: unknown): void {
    this.path.push(part);
    this.visit(node, value);
    this.path.pop();
  }
}

function findingOf(rule: string, { below, message, value }: Violation, path: Path): Finding {
  const finding = { rule, path: [...path, ...below], message: printable(message, longestMessage) };
  return value === undefined ? finding : { ...finding, value: printable(value, displayLimit) };
}
