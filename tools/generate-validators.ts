/**
 * Compiles the tables of the schema into validators, ahead of time: src/core/schema/generated/. Starting the program
 * then costs no schema compilation, and nothing is evaluated from strings at run time.
 *
 * Each generated file holds one function in CommonJS form, `(module, require) => …`, so that its patterns are
 * compiled only when the validator is first used, and its few helpers are our own (src/core/schema/validators.ts).
 * Versions with the same schema share a file. Nothing is written when everything is up to date.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv, _, type CodeOptions } from 'ajv';
import ajvPackage from 'ajv/package.json' with { type: 'json' };
import standalone from 'ajv/dist/standalone/index.js';
import { RE2JS } from 're2js';
import { channels, type Bundle } from '../src/core/schema/availability.ts';
import { supportedMinors } from '../src/core/schema/bundle.ts';
import { compileToJsonSchema, versionsIn } from '../src/core/schema/compile.ts';
import { formats } from '../src/core/schema/formats.ts';
import { tables } from '../src/core/schema/kinds.ts';
import type { JsonObject } from '../src/core/schema/node.ts';
import type { KindTable } from '../src/core/schema/tables/table.ts';
import { validatorKey } from '../src/core/schema/validator-key.ts';

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
export type Definition = (module: { exports?: Validator }, require: (name: string) => unknown) => void;
export const definitions: ReadonlyMap<string, Definition>;
`;

const schemas = allSchemas();
const stamp = digest(JSON.stringify([...schemas]), declarations, ajvPackage.version, readFileSync(fileURLToPath(import.meta.url), 'utf8'));
if (currentStamp() !== stamp) generate();

function generate(): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  const files = new Map([...schemas].map(([key, schema]) => [key, fileName(key, schema)]));
  for (const [key, schema] of schemas) writeFileSync(join(folder, files.get(key) ?? key), definitionOf(schema));
  writeFileSync(join(folder, 'index.d.ts'), declarations);
  // Written last: its stamp says that everything else is there.
  writeFileSync(join(folder, 'index.js'), indexOf(files));
}

function allSchemas(): ReadonlyMap<string, JsonObject> {
  const bundles = supportedMinors.flatMap((minor) => channels.map((channel): Bundle => ({ minor, channel })));
  const kinds = Object.values<KindTable>(tables).filter((table) => table.group.startsWith('gateway.networking.'));
  return new Map(bundles.flatMap((bundle) => kinds.flatMap((table) => versionsIn(table, bundle).flatMap(({ name }) => {
    const schema = compileToJsonSchema(table, name, bundle);
    return schema === undefined ? [] : [[validatorKey(table.kind, name, bundle), schema] as const];
  }))));
}

function definitionOf(schema: JsonObject): string {
  const ajv = new Ajv({
    allErrors: true, messages: false, strict: false, formats,
    code: { source: true, formats: _`require("formats")`, regExp: patternCompiler() },
  });
  return `export function define(module, require) {\n${standalone.default(ajv, ajv.compile(schema))}\n}\n`;
}

/** Patterns run on an engine that never backtracks. */
function patternCompiler(): NonNullable<CodeOptions['regExp']> {
  const compile = (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    return { test: (text: string) => compiled.test(text), toString: () => pattern };
  };
  return Object.assign(compile, { code: 'require("patterns").compile' });
}

function indexOf(files: ReadonlyMap<string, string>): string {
  const names = [...new Set(files.values())];
  const imports = names.map((name, position) => `import { define as define${position} } from './${name}';`);
  const entries = [...files].map(([key, name]) => `  [${JSON.stringify(key)}, define${names.indexOf(name)}],`);
  return ['// Made by tools/generate-validators.ts.', `// ${stamp}`, ...imports, 'export const definitions = new Map([', ...entries, ']);', ''].join('\n');
}

function fileName(key: string, schema: JsonObject): string {
  const kind = key.slice(0, key.indexOf('/'));
  return `${kind}-${digest(JSON.stringify(schema)).slice(0, 12)}.js`;
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
