import { RE2JS } from 're2js';
import type { Bundle } from './availability.ts';
import { formats } from './formats.ts';
import { define, names, type Validator } from './generated/index.js';
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
  ['patterns', { compile: lazyPattern }],
]);

let validators: Record<string, Validator> | undefined;

/** The validator of one version (`v1`) of a kind in one bundle; `undefined` where no table says what it is. */
export function loadValidator(kind: string, version: string, bundle: Bundle): Validator | undefined {
  const name = names.get(validatorKey(kind, version, bundle));
  if (validators === undefined) {
    validators = {};
    define(validators, (module) => modules.get(module));
  }
  return name === undefined ? undefined : validators[name];
}

/** Texts are remembered that are no longer than the name of a host, and no more of them than this. */
const [rememberedLength, rememberedTexts] = [253, 1000];

/** Compiled when it is first tried: most patterns belong to kinds and bundles that a process never sees. */
function lazyPattern(pattern: string): Pattern {
  let compiled: Pattern | undefined;
  const fits = (text: string): boolean => (compiled ??= RE2JS.compile(pattern)).test(text);
  // The same names stand in many objects, and in one object many times.
  const known = new Map<string, boolean>();
  return {
    test(text) {
      if (text.length > rememberedLength) return fits(text);
      let result = known.get(text);
      if (result !== undefined) return result;
      result = fits(text);
      if (known.size >= rememberedTexts) known.clear();
      known.set(text, result);
      return result;
    },
  };
}

function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
