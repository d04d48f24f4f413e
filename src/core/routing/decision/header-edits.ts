import { headerKey } from '../../text/header.ts';
import { fieldsWhere, framingFields, type Fields } from '../../text/fields.ts';
import type { HeaderFilter, RouteFilter } from '../config.ts';

/** A header filter prepared for use. */
export interface HeaderEdits {
  /** Lower-case names of the fields to remove. */
  readonly dropped: ReadonlySet<string>;
  readonly added: Fields;
}

/** Fields that filters cannot change: a change would break the framing. Host is changed by URLRewrite only. */
const framing: ReadonlySet<string> = new Set(framingFields);

/** Prepares the filters of one type in order, without those that have no effect. */
export function compileHeaderEdits(
  filters: readonly RouteFilter[],
  type: HeaderFilter['type'],
): readonly HeaderEdits[] {
  return filters
    .filter((filter): filter is HeaderFilter => filter.type === type)
    .map(compileFilter)
    .filter(hasEffect);
}

function compileFilter(filter: HeaderFilter): HeaderEdits {
  const set = filter.set.filter(({ name }) => isEditable(name));
  const add = filter.add.filter(({ name }) => isEditable(name));
  return {
    dropped: new Set([...filter.remove.filter(isEditable), ...set.map(({ name }) => name)].map(headerKey)),
    added: [...set, ...add].flatMap(({ name, value }) => [name, sendable(value)]),
  };
}

/** Whether filters can change fields with this name. */
export function isEditable(name: string): boolean {
  return !framing.has(headerKey(name));
}

function hasEffect({ dropped, added }: HeaderEdits): boolean {
  return dropped.size > 0 || added.length > 0;
}

const utf8 = new TextEncoder();

/** The value as bytes on the wire: UTF-8 without control characters, one character per byte. */
function sendable(value: string): string {
  const bytes = utf8.encode(value);
  return Array.from(bytes, (byte) => String.fromCharCode(byte))
    .join('')
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '');
}

/**
 * Applies edits in order: `set` replaces all fields with its name, `add` adds a field to the existing ones, which is
 * equivalent to appending to their values (RFC 9110 section 5.3).
 */
export function editFields(fields: string[], edits: readonly HeaderEdits[]): string[] {
  let result = fields;
  for (const { dropped, added } of edits) {
    if (dropped.size > 0) result = fieldsWhere(result, (key) => !dropped.has(key));
    result.push(...added);
  }
  return result;
}
