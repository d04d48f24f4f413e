import { canonical } from '../../core/text/compare-json.ts';
import { formatPath, type Path } from '../../core/resources/path.ts';
import { isRecord, memberOf } from '../../core/text/record.ts';

/** The subject of a finding. */
export interface FindingLocation {
  readonly rule: string;
  /** `HTTPRoute shop/cart`. */
  readonly object: string;
  readonly path: Path;
  /** The object. */
  readonly json: unknown;
}

/**
 * An identity of a finding that does not depend on the position of the object or on items before the location. List items are identified
 * by name or text, otherwise by content. `parent-not-found HTTPRoute shop/cart spec.parentRefs[name=front]`.
 */
export function identityOf({ rule, object, path, json }: FindingLocation): string {
  let text = '';
  let value = json;
  for (const part of path) {
    value = memberOf(value, part);
    text += typeof part === 'number' ? `[${itemIdentity(value)}]` : joined(text, part);
  }
  return [rule, object, text].filter((part) => part !== '').join(' ');
}

function joined(before: string, name: string): string {
  const text = formatPath([name]);
  return before === '' || text.startsWith('[') ? text : `.${text}`;
}

const longestText = 64;

function itemIdentity(item: unknown): string {
  const name = memberOf(item, 'name');
  if (typeof name === 'string') return `name=${name}`;
  if (typeof item === 'string' && item.length <= longestText) return item;
  return digestOf(item);
}

/** Digests of items. Hundreds of findings can be about one rule of a megabyte. */
const digests = new WeakMap<object, string>();

function digestOf(item: unknown): string {
  const known = isRecord(item) ? digests.get(item) : undefined;
  if (known !== undefined) return known;
  // Rarely needed, and loading it takes as long as reading a hundred objects.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const digest = createHash('sha256').update(canonical(item)).digest('hex').slice(0, 8);
  if (isRecord(item)) digests.set(item, digest);
  return digest;
}
