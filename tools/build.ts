/** Bundles the program and the library with their packages: node tools/build.ts [folder]. Default: dist/. */
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { bundle } from './bundle.ts';
import { writeDeclarations } from './declarations.ts';

/**
 * Commands that run as processes of their own for a long time, and the program of a thread of `proxy`. None shares chunks, because each keeps
 * all that it loads in memory.
 */
const processes = ['webhook', 'controller', 'proxy', 'proxy-worker', 'watchdog'];

/** All other commands besides check that the program loads, below src/cli. */
const commands = ['run', 'explain', 'explain-rule', 'audit', 'impact', 'preflight', 'doctor/doctor'];

const folder = process.argv[2] ?? 'dist';
await rm(folder, { recursive: true, force: true });
// People wait for check. Chunks shared with the servers would split it into thirty files, and it would start a tenth slower.
await bundle(
  [
    { sallyport: 'src/main.ts' },
    { 'official-client': 'src/kubernetes/official-client.ts' },
    { check: 'src/cli/check.ts', library: 'src/library/index.ts' },
    ...processes.map((name) => ({ [name]: `src/cli/${name}.ts` })),
    Object.fromEntries(commands.map((file) => [basename(file), `src/cli/${file}.ts`])),
  ],
  folder,
);
writeDeclarations('src/library/index.ts', `${folder}/library.d.ts`);
