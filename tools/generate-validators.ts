/**
 * Compiles the tables of the schema into validators, ahead of time: src/core/schema/generated/. Starting the program
 * then costs no schema compilation, and nothing is evaluated from strings at run time.
 *
 * All validators are in one file, since they share most of their parts. It holds a single function in CommonJS form,
 * `(exports, require) => …`, so that it costs next to nothing until the first validator is used, and its few helpers
 * are our own (src/core/schema/validators.ts). Nothing is written when everything is up to date.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv, _, type CodeOptions } from 'ajv';
import ajvPackage from 'ajv/package.json' with { type: 'json' };
import standalone from 'ajv/dist/standalone/index.js';
import { transformSync, version as esbuildVersion } from 'esbuild';
import refaPackage from 'refa/package.json' with { type: 'json' };
import { formats } from '../src/core/schema/formats.ts';
import { soughtErrors } from '../src/core/schema/limits.ts';
import { readerOf, type Automaton } from '../src/core/text/automaton.ts';
import { automatonOf } from './pattern-automaton.ts';
import { validatorSchemas } from './validator-schemas.ts';

const folder = fileURLToPath(new URL('../src/core/schema/generated/', import.meta.url));
const declarations = `import type { Automaton } from '../../text/automaton.ts';
export interface Validator {
  (json: unknown): boolean;
  errors?: readonly ValidatorError[] | null;
}
export interface ValidatorError {
  readonly keyword: string;
  /** A JSON pointer. */
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
}
/** Defines all validators as properties of \`exports\`. */
export function define(exports: Record<string, Validator>, require: (name: string) => unknown): void;
/** The name of each validator, by its key. */
export const names: ReadonlyMap<string, string>;
/** The automaton of each pattern that validators ask for. */
export const automata: ReadonlyMap<string, Automaton>;
`;

const { definitions, roots } = validatorSchemas();
const stamp = digest(
  JSON.stringify([[...definitions], [...roots]]),
  declarations,
  String(soughtErrors),
  ajvPackage.version,
  esbuildVersion,
  refaPackage.version,
  ...['generate-validators.ts', 'pattern-automaton.ts'].map((file) =>
    readFileSync(join(import.meta.dirname, file), 'utf8'),
  ),
);
if (currentStamp() !== stamp) generate();

function generate(): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  const automata = new Map<string, Automaton>();
  writeFileSync(join(folder, 'validators.js'), validatorsModule(automata));
  writeFileSync(join(folder, 'automata.js'), automataModule(automata));
  writeFileSync(join(folder, 'index.d.ts'), declarations);
  // Written last: its stamp says that everything else is there.
  writeFileSync(join(folder, 'index.js'), indexModule());
}

/** @param automata where to put the automata of the patterns that occur */
function validatorsModule(automata: Map<string, Automaton>): string {
  const ajv = new Ajv({
    allErrors: true,
    messages: false,
    strict: false,
    inlineRefs: false,
    formats,
    code: { source: true, formats: _`require("formats")`, regExp: patternCompiler(automata) },
  });
  for (const [name, schema] of definitions) ajv.addSchema({ ...schema, $id: name });
  const used = Object.fromEntries([...roots.values()].map((name) => [name, name]));
  // Schemas are in the code too, most of them for no use.
  const code = transformSync(withoutExcess(standalone.default(ajv, used)), { treeShaking: true }).code;
  // The parentheses make V8 compile the function with its file, so that Node keeps what it compiled between runs.
  return transformSync(`export const define = (function (exports, require) {\n${code}});\n`, { minify: true }).code;
}

/**
 * Makes loops end with the item whose errors exceed the limit, since ajv finds either one error or all of them, and copies those found so
 * far for each further item. Values with so many errors are invalid, so whether a value is valid stays the same.
 */
function withoutExcess(code: string): string {
  const bounded = code
    .replace(/(\bfor\(let (i\d+)=0; \2<len\d+)(; \2\+\+\))/g, `$1 && errors<${soughtErrors}$3`)
    .replace(/\bfor\(const key\d+ in data\d*\)\{/g, `$&if(errors>=${soughtErrors})break;`);
  if (/\bfor ?\((?!let i\d+=0; i\d+<len\d+ && errors<|const key\d+ in data\d*\)\{if\(errors>=)/.test(bounded))
    throw new Error('a loop of the validators has no limit');
  return bounded;
}

/** Patterns become automata, which never backtrack. */
function patternCompiler(automata: Map<string, Automaton>): NonNullable<CodeOptions['regExp']> {
  const compile = (pattern: string) => {
    const automaton = automata.get(pattern) ?? automatonOf(pattern);
    automata.set(pattern, automaton);
    return { test: readerOf(automaton), toString: () => pattern };
  };
  return Object.assign(compile, { code: 'require("patterns").compile' });
}

function automataModule(automata: ReadonlyMap<string, Automaton>): string {
  const entries = [...automata].map(
    ([pattern, automaton]) => `  [${JSON.stringify(pattern)}, ${JSON.stringify(automaton)}],`,
  );
  return ['export const automata = new Map([', ...entries, ']);', ''].join('\n');
}

function indexModule(): string {
  const entries = [...roots].map(([key, name]) => `  [${JSON.stringify(key)}, ${JSON.stringify(name)}],`);
  return [
    '// Made by tools/generate-validators.ts.',
    `// ${stamp}`,
    "export { automata } from './automata.js';",
    "export { define } from './validators.js';",
    'export const names = new Map([',
    ...entries,
    ']);',
    '',
  ].join('\n');
}

function currentStamp(): string | undefined {
  try {
    return readFileSync(join(folder, 'index.js'), 'utf8').split('\n')[1]?.slice('// '.length);
  } catch {
    return undefined;
  }
}

function digest(...texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}
