/** Bundles src/main.ts and its packages into dist/. */
import { rm } from 'node:fs/promises';
import { bundle } from './bundle.ts';

await rm('dist', { recursive: true, force: true });
await bundle({ sallyport: 'src/main.ts' }, 'dist');
