import { characterCount, quote } from '../text/display.ts';
import { resolve, resolveAll, type Bundle, type MaybeVersioned } from './availability.ts';
import type { FieldPath } from './json-values.ts';
import { fieldNames } from './locate.ts';
import type { Node } from './node.ts';
import { elsewhere, suggestion, type Subject } from './problem.ts';

/** One thing that a validator found, with what the table says about its place. */
export interface Complaint {
  readonly keyword: string;
  /** The bound that was broken, as far as there is one. */
  readonly limit: number;
  readonly value: unknown;
  readonly node: Node;
  readonly path: FieldPath;
  readonly subject: Subject;
}

/** What is wrong and what to write instead, in our own words; the path stands before it. */
export function describe(complaint: Complaint): string {
  const { keyword, limit, value, node } = complaint;
  switch (keyword) {
    case 'required': return `is required; write ${expected(complaint)}`;
    case 'type': return `must be ${typeNames[node.type]}, not ${shown(value)}${typeAdvice(complaint)}`;
    case 'enum': return describeEnum(complaint);
    case 'maxLength': return `has ${countOf(value)} characters; at most ${limit} are allowed`;
    case 'minLength': return `is empty; write ${expected(complaint)}`;
    case 'maxItems': return `has ${countOf(value)} items; at most ${limit} are allowed`;
    case 'minItems': return limit === 1 ? 'is empty; write at least one item' : `has ${countOf(value)} items; at least ${limit} are needed`;
    case 'maxProperties': return `has ${countOf(value)} entries; at most ${limit} are allowed`;
    case 'minProperties': return describeTooFew(complaint);
    case 'oneOf': return `does not fit; write ${node.form ?? 'one of its alternatives'}`;
    case 'format': return `${quote(value)} does not fit; write ${node.type === 'integer' ? 'a number of 32 bits' : expected(complaint)}`;
    default: return `${quote(value)} does not fit; write ${expected(complaint)}`;
  }
}

const typeNames = {
  string: 'a string', integer: 'an integer', boolean: 'true or false', object: 'an object', map: 'an object',
  list: 'a list', intOrString: 'an integer or a string',
} as const satisfies Record<Node['type'], string>;

const formatNames: Readonly<Record<string, string>> = {
  'date-time': 'a time such as 2026-01-31T12:00:00Z', byte: 'text in base64',
};

/** What belongs at a place, with article. */
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
  if (place !== undefined) return `${quote(value)} ${place}; write ${oneOf(known)}`;
  const near = typeof value === 'string' ? suggestion(value, known.map(String)) : undefined;
  const question = near === undefined ? '' : `; did you mean ${near}?`;
  return `${quote(value)} is not one of the values here: ${known.join(', ')}${question}`;
}

function enumOf(node: Node, bundle: Bundle): readonly unknown[] {
  return 'enum' in node ? resolveAll<unknown>(node.enum ?? [], bundle) : [];
}

/** Of an object, fields that the API server drops do not count. */
function describeTooFew({ node, value, limit, subject: { bundle } }: Complaint): string {
  if (node.type === 'object') return `has too few fields; write at least ${limit} of ${fieldNames(node, bundle).join(', ')}`;
  return limit === 1 ? 'is empty; write at least one entry' : `has ${countOf(value)} entries; at least ${limit} are needed`;
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `the string ${quote(value)}` : quote(value);
}

/** How to mend the usual slips of YAML: quotes too many or too few, a dash forgotten. */
function typeAdvice({ node, value, subject: { bundle } }: Complaint): string {
  const scalar = typeof value === 'number' || typeof value === 'boolean';
  if (node.type === 'string' && scalar) return `; write it in quotes: "${String(value)}"`;
  if (node.type === 'integer' && typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value)) return `; write it without quotes: ${value}`;
  if (node.type === 'boolean' && (value === 'true' || value === 'false')) return `; write it without quotes: ${value}`;
  if (node.type === 'list') return '; begin each item with a dash';
  if (node.type === 'object') return `; its fields are ${fieldNames(node, bundle).join(', ')}`;
  return '';
}

function countOf(value: unknown): number {
  if (typeof value === 'string') return characterCount(value);
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}
