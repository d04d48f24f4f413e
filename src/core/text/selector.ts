import { quote } from './display.ts';
import { isRecord, listOf, recordOf, type JsonRecord } from './record.ts';

/** An error in a label selector. The path starts at the selector. */
export interface SelectorProblem {
  readonly path: readonly (string | number)[];
  /** Describes the error and the fix. Starts in lower case and has no final full stop. */
  readonly message: string;
}

export type Labels = Readonly<Record<string, string>>;

type Requirement = (labels: Labels) => boolean;

interface ReadSelector {
  readonly requirements: readonly Requirement[];
  readonly problems: readonly SelectorProblem[];
  /** Whether it selects objects with these labels. */
  readonly verdicts: WeakMap<Labels, boolean>;
}

/** A selector may have as many values as fit into an object, and listeners compare it for each route: reading one takes up to 20 ms. */
let known = new WeakMap<object, ReadSelector>();

/** Reads selectors again: a program that passes its own objects may have changed them. */
export function forgetSelectors(): void {
  known = new WeakMap();
}

/**
 * Whether a Kubernetes label selector (`matchLabels`, `matchExpressions`; every requirement must hold) selects an object
 * with these labels. `{}` selects everything. Invalid or missing selectors select nothing.
 */
export function selectorMatches(selector: unknown, labels: Labels): boolean {
  const { requirements, problems, verdicts } = readSelector(selector);
  const verdict = verdicts.get(labels);
  if (verdict !== undefined) return verdict;
  const matches = problems.length === 0 && requirements.every((holds) => holds(labels));
  verdicts.set(labels, matches);
  return matches;
}

/** The problems of a label selector; empty if it is valid. At most the first 32: a selector of a megabyte may consist of nothing else. */
export function selectorProblems(selector: unknown): readonly SelectorProblem[] {
  return readSelector(selector).problems;
}

/** Formats a label selector in the notation of kubectl, such as `partner=yes,tier in (gold,silver)`; `undefined` if it is invalid. */
export function formatSelector(selector: unknown): string | undefined {
  if (selectorProblems(selector).length > 0) return undefined;
  const { matchLabels, matchExpressions } = recordOf(selector);
  return [
    ...Object.entries(recordOf(matchLabels)).map(([key, value]) => `${key}=${String(value)}`),
    ...listOf(matchExpressions).map((expression) => formatExpression(recordOf(expression))),
  ].join(',');
}

function formatExpression({ key, operator, values }: JsonRecord): string {
  const name = String(key);
  if (operator === 'Exists') return name;
  if (operator === 'DoesNotExist') return `!${name}`;
  return `${name} ${operator === 'In' ? 'in' : 'notin'} (${listOf(values).join(',')})`;
}

function readSelector(selector: unknown): ReadSelector {
  if (!isRecord(selector)) {
    const message = 'must be an object. Set matchLabels or matchExpressions';
    return { requirements: [], problems: [{ path: [], message }], verdicts: new WeakMap() };
  }
  const read = known.get(selector) ?? readRequirements(selector);
  known.set(selector, read);
  return read;
}

/** The rest of a selector with as many problems is not read, because an invalid one selects nothing. */
const maxProblems = 32;

function readRequirements(selector: JsonRecord): ReadSelector {
  const requirements: Requirement[] = [];
  const problems: SelectorProblem[] = [];
  const labels = own(selector, 'matchLabels') ?? {};
  if (isRecord(labels)) readLabels(labels, requirements, problems);
  else
    problems.push({
      path: ['matchLabels'],
      message: `matchLabels must be an object, not ${quote(labels)}. Use label keys and their values`,
    });
  const expressions = own(selector, 'matchExpressions') ?? [];
  if (Array.isArray(expressions)) {
    for (const [position, expression] of expressions.entries()) {
      if (problems.length >= maxProblems) break;
      const read = readExpression(expression);
      if (typeof read === 'function') requirements.push(read);
      else problems.push({ path: ['matchExpressions', position, ...read.path], message: read.message });
    }
  } else
    problems.push({
      path: ['matchExpressions'],
      message: `matchExpressions must be a list, not ${quote(expressions)}. Use entries with key, operator and values`,
    });
  return { requirements, problems, verdicts: new WeakMap() };
}

function readLabels(labels: JsonRecord, requirements: Requirement[], problems: SelectorProblem[]): void {
  for (const [key, value] of Object.entries(labels)) {
    if (problems.length >= maxProblems) break;
    const message = keyProblem(key) ?? valueProblem(value);
    if (message === undefined) requirements.push((present) => own(present, key) === value);
    else problems.push({ path: ['matchLabels', key], message });
  }
}

type Operator = (values: readonly unknown[], value: unknown) => boolean;

const operators: ReadonlyMap<unknown, Operator> = new Map<unknown, Operator>([
  ['In', (values, value) => value !== undefined && values.includes(value)],
  ['NotIn', (values, value) => value === undefined || !values.includes(value)],
  ['Exists', (_, value) => value !== undefined],
  ['DoesNotExist', (_, value) => value === undefined],
]);

function readExpression(expression: unknown): Requirement | SelectorProblem {
  if (!isRecord(expression))
    return {
      path: [],
      message: `each requirement must be an object, not ${quote(expression)}. Set key, operator and values`,
    };
  const key = own(expression, 'key');
  if (typeof key !== 'string')
    return { path: ['key'], message: `key must be a string, not ${quote(key)}. Set the key of a label` };
  const operatorName = own(expression, 'operator');
  const operator = operators.get(operatorName);
  if (operator === undefined) {
    return {
      path: ['operator'],
      message: `unsupported operator ${quote(operatorName)}. Use In, NotIn, Exists or DoesNotExist`,
    };
  }
  const wrongKey = keyProblem(key);
  if (wrongKey !== undefined) return { path: ['key'], message: wrongKey };
  const values = own(expression, 'values') ?? [];
  const wrongValues = valuesProblem(operatorName, values);
  if (wrongValues !== undefined) return { path: ['values'], message: wrongValues };
  const list = Array.isArray(values) ? values : [];
  return (labels) => operator(list, own(labels, key));
}

function valuesProblem(operator: unknown, values: unknown): string | undefined {
  if (!Array.isArray(values)) return `values must be a list, not ${quote(values)}. Use a list of label values`;
  const takesValues = operator === 'In' || operator === 'NotIn';
  if (takesValues && values.length === 0)
    return `values is required with operator ${operator}. Set at least one value, or use operator ${operator === 'In' ? 'Exists' : 'DoesNotExist'}`;
  if (!takesValues && values.length > 0)
    return `values is not allowed with operator ${String(operator)}. Remove values, or use operator ${operator === 'Exists' ? 'In' : 'NotIn'}`;
  // A plain loop: the description of all 10,000 values that a list may have takes tens of milliseconds.
  for (const value of values) {
    const problem = valueProblem(value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const name = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const subdomain = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;

function keyProblem(key: string): string | undefined {
  const slash = key.indexOf('/');
  const prefix = slash === -1 ? undefined : key.slice(0, slash);
  const plain = key.slice(slash + 1);
  if (plain.length > 63 || !name.test(plain)) {
    return `invalid label key ${quote(key)}. Use at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends`;
  }
  if (prefix !== undefined && (prefix.length > 253 || !subdomain.test(prefix) || prefix.includes('..'))) {
    return `invalid label key ${quote(key)}: its prefix is not a DNS name. Use a DNS name in lower case before "/", for example example.com/${plain}`;
  }
  return undefined;
}

function valueProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return `label values must be strings, not ${quote(value)}. Put it in quotes`;
  if (value === '' || (value.length <= 63 && name.test(value))) return undefined;
  return `invalid label value ${quote(value)}. Use at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends`;
}

/** The value of an own property: labels may be called `constructor` or `__proto__`. */
function own(object: JsonRecord, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
