import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bundle } from '../../../tools/bundle.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-bundle-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});

afterAll(() => rmSync(folder, { recursive: true }));

test('a program that serves HTTP does not load the HTTP client of Node', async () => {
  const source = join(folder, 'server.ts');
  writeFileSync(
    source,
    `import { createServer } from 'node:http';
     import { request } from 'node:https';
     const loaded = process.moduleLoadList.some((name) => name.includes('undici'));
     console.log(typeof createServer, typeof request, loaded);`,
  );
  await bundle([{ server: source }], join(folder, 'dist'));
  const output = execFileSync(process.execPath, [join(folder, 'dist/server.js')], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  expect(output).toBe('function function false\n');
});
