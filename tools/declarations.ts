import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Writes the types of a module as a single file. Throws if they are not self-contained: a consumer must not depend on internal
 * modules.
 */
export function writeDeclarations(source: string, target: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'declarations-'));
  try {
    execFileSync('node_modules/.bin/tsc', ['--project', 'tsconfig.library.json', '--outDir', folder], {
      stdio: 'inherit',
    });
    const text = readFileSync(join(folder, source.replace(/^src\//, '').replace(/\.ts$/, '.d.ts')), 'utf8');
    if (/^(?:import|export .* from)\b/m.test(text))
      throw new Error(`the types of ${source} need others: write them out there`);
    writeFileSync(target, text);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
