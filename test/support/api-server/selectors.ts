import { record, type Json } from './object.ts';

/** Which objects a list or watch is about. */
export interface Filter {
  readonly namespace: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

/** Equality, inequality and existence, which is what tests need. */
export function matches(object: Json, { namespace, labelSelector, fieldSelector }: Filter): boolean {
  const metadata = record(object['metadata']);
  if (namespace !== '' && metadata['namespace'] !== namespace) return false;
  const labels = record(metadata['labels']);
  return (
    terms(labelSelector).every((term) => holds(term, (key) => labels[key])) &&
    terms(fieldSelector).every((term) => holds(term, (key) => field(object, key)))
  );
}

function terms(selector: string): readonly string[] {
  return selector === '' ? [] : selector.split(',');
}

function holds(term: string, valueOf: (key: string) => unknown): boolean {
  const [key = '', operator, wanted] = /^([^!=]+)(!=|==?)?(.*)$/.exec(term)?.slice(1) ?? [];
  if (operator === undefined) return valueOf(key) !== undefined;
  return (valueOf(key) === wanted) === (operator !== '!=');
}

function field(object: Json, path: string): unknown {
  return path.split('.').reduce<unknown>((part, key) => record(part)[key], object);
}
