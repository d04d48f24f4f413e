/** Bundles the program and the library with their packages: node tools/build.ts [folder]. Default: dist/. */
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { bundle } from './bundle.ts';
import { writeDeclarations } from './declarations.ts';

/** Commands besides check that the program loads, below src/cli. */
const commands = [
  'run',
  'explain',
  'explain-rule',
  'audit',
  'impact',
  'preflight',
  'webhook',
  'controller',
  'proxy',
  'watchdog',
  'doctor/doctor',
];

const folder = process.argv[2] ?? 'dist';
await rm(folder, { recursive: true, force: true });
// People wait for check. Chunks shared with the servers would split it into thirty files, and it would start a tenth slower.
await bundle(
  [
    { sallyport: 'src/main.ts' },
    { check: 'src/cli/check.ts', library: 'src/library/index.ts' },
    Object.fromEntries(commands.map((file) => [basename(file), `src/cli/${file}.ts`])),
  ],
  folder,
);
writeDeclarations('src/library/index.ts', `${folder}/library.d.ts`);
