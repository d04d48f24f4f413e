import { readerOf } from '../text/automaton.ts';
import { characterCount } from '../text/display.ts';
import type { Bundle } from './availability.ts';
import { formats } from './formats.ts';
import { automata, define, names, type Validator } from './generated/index.js';
import { validatorKey } from './validator-key.ts';

export type { Validator, ValidatorError } from './generated/index.js';

/** A pattern of the schema; unanchored. */
interface Pattern {
  test(text: string): boolean;
}

// The modules that the generated code requires by name; see tools/generate-validators.ts.
const modules: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['ajv/dist/runtime/ucs2length', { default: characterCount }],
  ['formats', formats],
  ['patterns', { compile: patternOf }],
]);

let validators: Record<string, Validator> | undefined;

/** The validator of one version (`v1`) of a kind in one bundle; `undefined` if no table describes it. */
export function loadValidator(kind: string, version: string, bundle: Bundle): Validator | undefined {
  const name = names.get(validatorKey(kind, version, bundle));
  if (validators === undefined) {
    validators = {};
    define(validators, (module) => modules.get(module));
  }
  return name === undefined ? undefined : validators[name];
}

function patternOf(pattern: string): Pattern {
  const automaton = automata.get(pattern);
  if (automaton === undefined) throw new Error(`no automaton was made of ${pattern}; generate the validators anew`);
  return { test: readerOf(automaton) };
}
