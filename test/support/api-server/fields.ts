import { isJson, record, Refusal, textOf, type Json } from './object.ts';

/** By manager, the fields that it owns: paths as JSON. An item of a list with a key has the value of its key as a part. */
export type Owners = Map<string, Set<string>>;

/** Lists with a key: their items are merged by it. All other lists count as one field. */
const keyOfItems: Readonly<Record<string, string>> = { webhooks: 'name' };

/** Of metadata. */
const ownable: ReadonlySet<string> = new Set(['labels', 'annotations', 'ownerReferences']);

/** The fields that anybody may own, with their values. */
function fieldsOf(object: Json): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const visit = (part: unknown, path: readonly string[]): void => {
    const items = itemsOf(part, path);
    if (items !== undefined) for (const [key, item] of items) visit(item, [...path, key]);
    else if (isJson(part) && Object.keys(part).length > 0)
      for (const [key, value] of Object.entries(part)) visit(value, [...path, key]);
    else found.set(JSON.stringify(path), part);
  };
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = object;
  for (const [key, value] of Object.entries(rest)) visit(value, [key]);
  for (const [key, value] of Object.entries(isJson(metadata) ? metadata : {}))
    if (ownable.has(key)) visit(value, ['metadata', key]);
  return found;
}

/** The items of a list by their keys; `undefined` for anything else than a list with a key. */
function itemsOf(part: unknown, [list = '', ...inner]: readonly string[]): ReadonlyMap<string, unknown> | undefined {
  const key = keyOfItems[list];
  if (key === undefined || inner.length > 0 || !Array.isArray(part)) return undefined;
  return new Map(part.map((item: unknown) => [textOf(record(item)[key]), item]));
}

interface Application {
  readonly manager: string;
  readonly force: boolean;
}

/**
 * Server-side apply, simplified: lists without a key are fields. Changes `owners` and returns the new object.
 *
 * @throws Refusal with a cause per field that another manager owns with another value, unless forced
 */
export function applyFields(live: Json, applied: Json, owners: Owners, { manager, force }: Application): Json {
  const wanted = fieldsOf(applied);
  const present = fieldsOf(live);
  const others = [...owners].filter(([name]) => name !== manager);
  const causes = others.flatMap(([name, owned]) =>
    [...wanted]
      .filter(([path, value]) => owned.has(path) && !isEqual(present.get(path), value))
      .map(([path]) => ({ reason: 'FieldManagerConflict', message: `conflict with "${name}"`, field: path })),
  );
  if (causes.length > 0 && !force)
    throw new Refusal(409, 'Conflict', `Apply failed with ${causes.length} conflicts`, { causes });

  const result = structuredClone(live);
  for (const [path, value] of wanted) {
    if (!isEqual(present.get(path), value)) for (const [, owned] of others) owned.delete(path);
    set(result, JSON.parse(path) as string[], value);
  }
  for (const path of owners.get(manager) ?? []) {
    if (!wanted.has(path) && !others.some(([, owned]) => owned.has(path))) unset(result, JSON.parse(path) as string[]);
  }
  owners.set(manager, new Set(wanted.keys()));
  return result;
}

/** Any other write: what it changed is the writer's from now on. */
export function claimChanged(before: Json, after: Json, owners: Owners, manager: string): void {
  const old = fieldsOf(before);
  const changed = [...fieldsOf(after)].filter(([path, value]) => !isEqual(old.get(path), value)).map(([path]) => path);
  for (const path of changed) for (const owned of owners.values()) owned.delete(path);
  if (changed.length > 0) owners.set(manager, new Set([...(owners.get(manager) ?? []), ...changed]));
}

function set(object: Json, path: readonly string[], value: unknown): void {
  const [key = '', ...rest] = path;
  if (keyOfItems[key] !== undefined && rest.length > 0) return setItem(object, path, value);
  if (path.length === 0) return;
  if (rest.length === 0) object[key] = value;
  else {
    const inner = isJson(object[key]) ? object[key] : {};
    object[key] = inner;
    set(inner, rest, value);
  }
}

function unset(object: Json, path: readonly string[]): void {
  const [key = '', ...rest] = path;
  const item = itemsOf(object[key], [key])?.get(rest[0] ?? '');
  if (rest.length === 0) delete object[key];
  else if (isJson(item)) unset(item, rest.slice(1));
  else if (isJson(object[key])) unset(object[key], rest);
}

function setItem(object: Json, [list = '', name = '', ...rest]: readonly string[], value: unknown): void {
  const items: unknown[] = Array.isArray(object[list]) ? object[list] : [];
  object[list] = items;
  const found = itemsOf(items, [list])?.get(name);
  const item = isJson(found) ? found : { [keyOfItems[list] ?? '']: name };
  if (item !== found) items.push(item);
  set(item, rest, value);
}

function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
