import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildPackage } from '../../support/built-package.ts';

// As a consumer sees it: the packed package, unpacked where npm would put it, and nothing else installed.

let consumer: string;

beforeAll(() => {
  const built = buildPackage();
  consumer = mkdtempSync(join(tmpdir(), 'sallyport-consumer-'));
  const installed = join(consumer, 'node_modules/sallyport');
  mkdirSync(installed, { recursive: true });
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', consumer], {
    cwd: built.folder,
    encoding: 'utf8',
  }).trim();
  execFileSync('tar', ['-xzf', join(consumer, packed), '-C', installed, '--strip-components=1']);
  built.remove();
  writeFileSync(join(consumer, 'package.json'), '{ "type": "module" }');
}, 120_000);

afterAll(() => rmSync(consumer, { recursive: true, force: true }));

function run(file: string, text: string): unknown {
  writeFileSync(join(consumer, file), text);
  return JSON.parse(
    execFileSync(process.execPath, [file], {
      cwd: consumer,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    }),
  );
}

const use = `
const { objects } = parse('apiVersion: gateway.networking.k8s.io/v1\\nkind: HTTPRoute\\nmetadata: { name: a, namespace: b }\\nspec: { parentRefs: [{ name: web }], rules: [{ filters: [{ type: RequestRedirect, requestRedirect: { scheme: https } }], timeouts: { request: 1.5s } }] }');
const findings = objects.flatMap(({ object }) => validate(object, { bundle: 'v1.6.0', channel: 'experimental' }));
console.log(JSON.stringify([findings.map(({ rule, field }) => [rule, field]), evaluate(objects.map(({ object }) => object)).length, parseDuration('1m'), bundles.at(-1)]));
`;
const answer = [
  [['duration-form', 'spec.rules[0].timeouts.request']],
  1,
  { ok: true, milliseconds: 60_000 },
  { bundle: 'v1.7.0', channel: 'experimental' },
];

/** Every file that importing the library loads. */
function loadedFiles(): readonly string[] {
  const folder = join(consumer, 'node_modules/sallyport/dist');
  const files = new Set(['library.js']);
  for (const file of files) {
    for (const [, name = ''] of readFileSync(join(folder, file), 'utf8').matchAll(
      /(?:^|;)(?:import|export)[^'"]*?"\.\/([^"]+)"/gm,
    ))
      files.add(name);
  }
  return [...files].map((file) => join(folder, file));
}

describe('the package as a library', () => {
  test('is imported by a module', () => {
    expect(
      run('index.js', `import { bundles, evaluate, parse, parseDuration, validate } from 'sallyport';${use}`),
    ).toEqual(answer);
  });

  test('is required by a script', () => {
    expect(
      run('index.cjs', `const { bundles, evaluate, parse, parseDuration, validate } = require('sallyport');${use}`),
    ).toEqual(answer);
  });

  test('has types that stand by themselves, and are strict', () => {
    writeFileSync(
      join(consumer, 'index.ts'),
      `import { bundles, evaluate, parse, parseDuration, validate, type Finding, type Options } from 'sallyport';
const options: Options = { profile: 'strict' };
export const severities: readonly Finding['severity'][] = validate({}, options).map(({ severity }) => severity);
// @ts-expect-error: no such profile
validate({}, { profile: 'lenient' });
// @ts-expect-error: milliseconds only where it is ok
parseDuration('1m').milliseconds;
declare const console: { log(text: string): void };
${use}`,
    );
    const tsconfig = {
      compilerOptions: {
        module: 'nodenext',
        target: 'es2022',
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        types: [],
      },
      files: ['index.ts'],
    };
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify(tsconfig));
    const { status, stdout } = spawnSync('node_modules/.bin/tsc', ['--project', consumer], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  test('loads no package but the one that reads YAML', () => {
    const packages = loadedFiles().flatMap((file) => {
      const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: readonly string[] };
      return sources.flatMap((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ?? []);
    });
    expect(loadedFiles().length).toBeGreaterThan(1);
    expect(new Set(packages)).toEqual(new Set(['js-yaml']));
  });

  test('is ASCII: V8 would take two bytes for each character of a file with any other, and longer to read them', () => {
    expect(loadedFiles().filter((file) => /[^\0-\x7f]/.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  test('offers nothing but itself', () => {
    writeFileSync(
      join(consumer, 'inside.js'),
      "import('sallyport/dist/sallyport.js').catch((error) => console.log(JSON.stringify(error.code)));",
    );
    expect(run('inside.js', readFileSync(join(consumer, 'inside.js'), 'utf8'))).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});
