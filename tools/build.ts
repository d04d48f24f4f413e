/** Bundles src/main.ts and its packages: node tools/build.ts [folder], dist/ unless told. */
import { rm } from 'node:fs/promises';
import { bundle } from './bundle.ts';

const folder = process.argv[2] ?? 'dist';
await rm(folder, { recursive: true, force: true });
await bundle({ sallyport: 'src/main.ts' }, folder);
