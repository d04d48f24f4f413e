import { characterCount, quote } from '../text/display.ts';
import { resolve, resolveAll, type Bundle, type MaybeVersioned } from './availability.ts';
import type { FieldPath } from './json-values.ts';
import { fieldNames } from './locate.ts';
import type { Node } from './node.ts';
import { elsewhere, suggestion, type Subject } from './problem.ts';

/** One error that a validator found, with the node of the schema table at its location. */
export interface Complaint {
  readonly keyword: string;
  /** The limit that the value exceeds, if the keyword has one. */
  readonly limit: number;
  readonly value: unknown;
  readonly node: Node;
  readonly path: FieldPath;
  readonly subject: Subject;
}

/** Describes the error and the fix in sentences. The path precedes them. */
export function describe(complaint: Complaint): string {
  const { keyword, limit, value, node } = complaint;
  switch (keyword) {
    case 'required':
      return `Value is required. Use ${expected(complaint)}.`;
    case 'type':
      return `Invalid type: must be ${typeNames[node.type]}, not ${shown(value)}.${typeAdvice(complaint)}`;
    case 'enum':
      return describeEnum(complaint);
    case 'maxLength':
      return `Value too long: it has ${countOf(value)} characters, and at most ${limit} are allowed.`;
    case 'minLength':
      return `Value is empty. Use ${expected(complaint)}.`;
    case 'maxItems':
      return `Too many items: the list has ${countOf(value)}, and at most ${limit} are allowed.`;
    case 'minItems':
      return limit === 1
        ? 'List is empty. Add at least one item.'
        : `Too few items: the list has ${countOf(value)}, and at least ${limit} are required.`;
    case 'maxProperties':
      return `Too many entries: the map has ${countOf(value)}, and at most ${limit} are allowed.`;
    case 'minProperties':
      return describeTooFew(complaint);
    case 'oneOf':
      return `Invalid value. Use ${node.form ?? 'one of the alternatives of the schema'}.`;
    case 'format':
      return `Invalid value ${quote(value)}. Use ${node.type === 'integer' ? 'a 32-bit integer' : expected(complaint)}.`;
    default:
      return `Invalid value ${quote(value)}. Use ${expected(complaint)}.`;
  }
}

const typeNames = {
  string: 'a string',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  map: 'an object',
  list: 'a list',
  intOrString: 'an integer or a string',
} as const satisfies Record<Node['type'], string>;

const formatNames: Readonly<Record<string, string>> = {
  'date-time': 'a time such as 2026-01-31T12:00:00Z',
  byte: 'text in base64',
};

/** The expected value at a location, with article. */
function expected({ node, subject: { bundle } }: Complaint): string {
  const values = enumOf(node, bundle);
  if (values.length > 0) return oneOf(values);
  if (node.type === 'integer') return describeRange(bound(node.minimum, bundle), bound(node.maximum, bundle));
  if (node.form !== undefined) return node.form;
  if (node.type === 'string') return formatNames[node.format ?? ''] ?? 'a string of at least one character';
  const required = node.type === 'object' ? resolveAll(node.required ?? [], bundle) : [];
  return required.length === 0 ? typeNames[node.type] : `${typeNames[node.type]} with ${required.join(', ')}`;
}

function bound(value: MaybeVersioned<number> | undefined, bundle: Bundle): number | undefined {
  return value === undefined ? undefined : resolve(value, bundle);
}

function describeRange(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum !== undefined && maximum !== undefined) return `an integer from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `an integer of at least ${minimum}`;
  return maximum === undefined ? 'an integer' : `an integer of at most ${maximum}`;
}

function describeEnum({ node, value, path, subject }: Complaint): string {
  const known = enumOf(node, subject.bundle);
  const place = elsewhere(subject, path, (candidate, bundle) => enumOf(candidate, bundle).includes(value));
  if (place !== undefined) return `Unsupported value ${quote(value)}: it ${place}. Use ${oneOf(known)}.`;
  const near = typeof value === 'string' ? suggestion(value, known.map(String)) : undefined;
  const question = near === undefined ? '' : ` Did you mean ${near}?`;
  return `Unsupported value ${quote(value)}. Supported values: ${known.join(', ')}.${question}`;
}

function enumOf(node: Node, bundle: Bundle): readonly unknown[] {
  return 'enum' in node ? resolveAll<unknown>(node.enum ?? [], bundle) : [];
}

/** Fields that the API server drops do not count. */
function describeTooFew({ node, value, limit, subject: { bundle } }: Complaint): string {
  if (node.type === 'object') return `Too few fields. Set at least ${limit} of ${fieldNames(node, bundle).join(', ')}.`;
  return limit === 1
    ? 'Map is empty. Add at least one entry.'
    : `Too few entries: the map has ${countOf(value)}, and at least ${limit} are required.`;
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `the string ${quote(value)}` : quote(value);
}

/** Fixes of common YAML mistakes: missing or extra quotes, a missing dash. */
function typeAdvice({ node, value, subject: { bundle } }: Complaint): string {
  const scalar = typeof value === 'number' || typeof value === 'boolean';
  if (node.type === 'string' && scalar) return ` Put it in quotes: "${String(value)}".`;
  if (node.type === 'integer' && typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value))
    return ` Remove the quotes: ${value}.`;
  if (node.type === 'boolean' && (value === 'true' || value === 'false')) return ` Remove the quotes: ${value}.`;
  if (node.type === 'list') return ' Start each item with a dash.';
  if (node.type === 'object') return ` Its fields are ${fieldNames(node, bundle).join(', ')}.`;
  return '';
}

function countOf(value: unknown): number {
  if (typeof value === 'string') return characterCount(value);
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}
