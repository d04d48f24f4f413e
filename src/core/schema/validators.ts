import { RE2JS } from 're2js';
import type { Bundle } from './availability.ts';
import { formats } from './formats.ts';
import { definitions, type Validator } from './generated/index.js';
import { validatorKey } from './validator-key.ts';

export type { Validator, ValidatorError } from './generated/index.js';

/** A pattern of the schema; it matches anywhere unless anchored. */
interface Pattern {
  test(text: string): boolean;
}

// What the generated code asks for by name; see tools/generate-validators.ts.
const modules: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['ajv/dist/runtime/ucs2length', { default: countCodePoints }],
  ['formats', formats],
  ['patterns', { compile: (pattern: string): Pattern => RE2JS.compile(pattern) }],
]);

// Defining a validator compiles its patterns, so it happens once, on first use.
const loaded = new Map<string, Validator | undefined>();

/** The validator of one version (`v1`) of a kind in one bundle; `undefined` where no table says what it is. */
export function loadValidator(kind: string, version: string, bundle: Bundle): Validator | undefined {
  const key = validatorKey(kind, version, bundle);
  if (!loaded.has(key)) loaded.set(key, define(key));
  return loaded.get(key);
}

function define(key: string): Validator | undefined {
  const definition = definitions.get(key);
  if (definition === undefined) return undefined;
  const module: { exports?: Validator } = {};
  definition(module, (name) => modules.get(name));
  return module.exports;
}

function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
