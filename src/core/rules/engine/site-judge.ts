import { keyOf } from '../../incremental/key.ts';
import type { Path } from '../../resources/path.ts';
import { versionOf, type Bundle, type WrittenObject } from '../../schema/index.ts';
import { displayLimit, printable } from '../../text/display.ts';
import { isPresent, valueAt } from '../../text/record.ts';
import type { Steps } from '../../text/steps.ts';
import type { Demand, ReportViolation, Violation } from './demand.ts';
import { partsOf, sitesIn, type Site, type SiteTables } from '../official/sites.ts';
import { findingsPerRule, moreFindings } from './finding-limit.ts';
import { longestMessage, type Finding } from './rule.ts';

/** Finds violations of the demands of several tables in objects. */
export class SiteJudge<T extends string> {
  private readonly tables: Readonly<Record<T, SiteTables>>;
  private readonly names: readonly T[];
  private readonly nothing: Readonly<Record<T, readonly Finding[]>>;
  /** Sites never change, so their tree is built once for each version of a kind in a bundle. */
  private readonly known = new Map<string, LocationNode>();

  constructor(tables: Readonly<Record<T, SiteTables>>) {
    this.tables = tables;
    this.names = Object.keys(tables) as T[];
    this.nothing = this.byTable(() => []);
  }

  /**
   * Judges an object, in steps. Walks the object once for all tables. The findings are grouped by table, and within a table in the order of
   * the object. There are none in objects of versions that a bundle does not have. Never throws.
   *
   * @param view the object as the bundle reads it: only fields with the types of the kind's table
   */
  *judge(
    { kind, apiVersion, json }: WrittenObject,
    view: object,
    bundle: Bundle,
  ): Steps<Readonly<Record<T, readonly Finding[]>>> {
    const version = versionOf(kind, apiVersion, bundle)?.name;
    if (version === undefined) return this.nothing;
    const { names, tables, known } = this;
    const key = keyOf([kind, version, bundle.minor, bundle.channel]);
    const root = known.get(key) ?? treeOf(names.map((name) => sitesIn(tables[name][kind], version, bundle)));
    known.set(key, root);
    const walk = new Walk();
    yield* walk.inSteps(root, view, outerLevels);
    if (walk.found.length === 0) return this.nothing;
    walk.close();
    // A value of a wrong type, or a field that the bundle does not have, is not a missing value. The schema reports it.
    const found = walk.found.filter(({ finding: { path } }) => isPresent(valueAt(view, path)) || !isTaken(json, path));
    return this.byTable((table) => found.filter((each) => each.table === table).map(({ finding }) => finding));
  }

  private byTable(findings: (table: number) => readonly Finding[]): Readonly<Record<T, readonly Finding[]>> {
    return Object.fromEntries(this.names.map((name, table) => [name, findings(table)])) as Record<
      T,
      readonly Finding[]
    >;
  }
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

/** The levels of an object down to the items of a list, such as `spec.rules[]`. */
const outerLevels = 3;
/** Expressions of 3 MiB are parsed in about 0.15 s. This many values have a small part of them. */
const valuesPerStep = 128;

/** One walk of an object. Almost all objects have no findings, so everything that only a finding needs exists once per walk. */
class Walk {
  readonly found: { readonly table: number; readonly finding: Finding }[] = [];
  /** The number of violations of each demand. A table has few demands, and each belongs to one rule. */
  private broken: Map<Check, number> | undefined;
  /** The current location of the walk. */
  private readonly path: (string | number)[] = [];
  private check: Check | undefined;
  /** Values since the last step. */
  private visited = 0;
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

  /** Visits a value in steps. Only the outer levels and long lists have steps, because that takes longer for each value. */
  *inSteps(node: LocationNode, value: object, levels: number): Steps<void> {
    this.judge(node, value);
    for (const { part, below, inner } of insideOf(node, value)) {
      this.path.push(part);
      if (typeof inner === 'object' && inner !== null && (levels > 1 || isLong(inner)))
        yield* this.inSteps(below, inner, levels - 1);
      else this.visit(below, inner);
      this.path.pop();
      if (this.visited < valuesPerStep) continue;
      this.visited = 0;
      yield;
    }
  }

  private judge({ checks }: LocationNode, value: unknown): void {
    this.visited += 1;
    for (const check of checks) {
      this.check = check;
      check.demand.judge(value, this.report);
    }
  }

  private visit(node: LocationNode, value: unknown): void {
    this.judge(node, value);
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

/** More items than a list of most routes has. */
const longList = 16;

/** Whether a value is a long list, or has one. */
function isLong(value: object): boolean {
  if (Array.isArray(value)) return value.length > longList;
  return Object.values(value).some((inner) => Array.isArray(inner) && inner.length > longList);
}

interface Inside {
  readonly part: string | number;
  readonly below: LocationNode;
  readonly inner: unknown;
}

/** The values in a value that have sites, in the order in which `Walk` visits them. */
function insideOf({ each, below }: LocationNode, value: object): readonly Inside[] {
  const inside: Inside[] = [];
  if (each !== undefined && Array.isArray(value))
    for (let part = 0; part < value.length; part++) inside.push({ part, below: each, inner: value[part] });
  for (const { name, node } of below) {
    const inner = (value as Readonly<Record<string, unknown>>)[name];
    if (inner !== undefined) inside.push({ part: name, below: node, inner });
  }
  return inside;
}

function findingOf(rule: string, { below, message, value }: Violation, path: Path): Finding {
  const finding = { rule, path: [...path, ...below], message: printable(message, longestMessage) };
  return value === undefined ? finding : { ...finding, value: printable(value, displayLimit) };
}
