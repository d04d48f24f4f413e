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
import { RE2JS } from 're2js';
import { formats } from '../src/core/schema/formats.ts';
import { validatorSchemas } from './validator-schemas.ts';

const folder = fileURLToPath(new URL('../src/core/schema/generated/', import.meta.url));
const declarations = `export interface Validator {
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
`;

const { definitions, roots } = validatorSchemas();
const stamp = digest(
  JSON.stringify([[...definitions], [...roots]]), declarations, ajvPackage.version, esbuildVersion,
  readFileSync(fileURLToPath(import.meta.url), 'utf8'),
);
if (currentStamp() !== stamp) generate();

function generate(): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'validators.js'), validatorsModule());
  writeFileSync(join(folder, 'index.d.ts'), declarations);
  // Written last: its stamp says that everything else is there.
  writeFileSync(join(folder, 'index.js'), indexModule());
}

function validatorsModule(): string {
  const ajv = new Ajv({
    allErrors: true, messages: false, strict: false, inlineRefs: false, formats,
    code: { source: true, formats: _`require("formats")`, regExp: patternCompiler() },
  });
  for (const [name, schema] of definitions) ajv.addSchema({ ...schema, $id: name });
  const used = Object.fromEntries([...roots.values()].map((name) => [name, name]));
  return transformSync(`export function define(exports, require) {\n${standalone.default(ajv, used)}\n}\n`, { minify: true }).code;
}

/** Patterns run on an engine that never backtracks. */
function patternCompiler(): NonNullable<CodeOptions['regExp']> {
  const compile = (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    return { test: (text: string) => compiled.test(text), toString: () => pattern };
  };
  return Object.assign(compile, { code: 'require("patterns").compile' });
}

function indexModule(): string {
  const entries = [...roots].map(([key, name]) => `  [${JSON.stringify(key)}, ${JSON.stringify(name)}],`);
  return [
    '// Made by tools/generate-validators.ts.', `// ${stamp}`, "export { define } from './validators.js';",
    'export const names = new Map([', ...entries, ']);', '',
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
