import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Every file of the repository that git knows, by its path from the root. */
export function trackedFiles(): readonly string[] {
  return execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((file) => file !== '');
}

/** The text of a tracked file; '' where it is gone from the work tree. */
export function textOf(file: string): string {
  try {
    return readFileSync(`${root}${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** `import … from 'x'` and `export … from 'x'`, over several lines too; `import 'x'`; `import('x')`. */
const statements = [
  /^(?:import|export)\s[^'";]*?\bfrom\s+'([^']+)'/gm,
  /^import\s+'([^']+)'/gm,
  /\bimport\(\s*'([^']+)'/g,
];

/** What a module imports, re-exports or loads later, as written. */
export function importsOf(file: string): readonly string[] {
  const text = textOf(file);
  return statements.flatMap((statement) => [...text.matchAll(statement)].map(([, specifier = '']) => specifier));
}

/** A relative specifier as a path from the root. */
export function resolveImport(file: string, specifier: string): string {
  return new URL(specifier, `file:///${file}`).pathname.slice(1);
}
