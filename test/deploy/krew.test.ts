import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { load } from 'js-yaml';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Package {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

interface Plugin {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly shortDescription: string;
    readonly description: string;
    readonly caveats: string;
    readonly platforms: readonly {
      readonly selector: object;
      readonly uri: string;
      readonly sha256: string;
      readonly files: readonly { readonly from: string; readonly to: string }[];
      readonly bin: string;
    }[];
  };
}

let published: Package;
let plugin: Plugin;

/** Fills in the template as krew-release-bot does. */
function released(template: string, tag: string): string {
  return template
    .replace(
      /^( *)\{\{addURIAndSha "(.*)" \.TagName \}\}$/gm,
      (_, indent: string, uri: string) => `${indent}uri: ${uri}\n${indent}sha256: ${'abcdef01'.repeat(8)}`,
    )
    .replaceAll('{{ .TagName }}', tag);
}

beforeAll(async () => {
  published = JSON.parse(await readFile(`${root}/package.json`, 'utf8')) as Package;
  const text = released(await readFile(`${root}/deploy/krew/sallyport.yaml`, 'utf8'), `v${published.version}`);
  plugin = load(text) as Plugin;
});

describe('the manifest for krew', () => {
  test('describes a plugin that kubectl finds by its name', () => {
    expect(plugin).toMatchObject({ apiVersion: 'krew.googlecontainertools.github.com/v1alpha2', kind: 'Plugin' });
    expect(JSON.stringify(plugin)).not.toContain('{{');
    expect(plugin.spec.version).toMatch(/^v\d+\.\d+\.\d+$/);
    expect(Object.keys(published.bin)).toContain(`kubectl-${plugin.metadata.name}`);
    // The index of krew accepts up to 50 characters without a full stop.
    expect(plugin.spec.shortDescription).toMatch(/^[A-Z].{1,48}[^.]$/);
  });

  test('installs what the package contains, and starts its program', async () => {
    const [platform, ...others] = plugin.spec.platforms;
    expect(others).toEqual([]);
    expect(platform).toMatchObject({
      uri: `https://github.com/sallyport/sallyport/releases/download/v${published.version}/sallyport.tgz`,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      // npm puts all files into this folder.
      files: [{ from: 'package/*', to: '.' }],
      bin: published.bin[`kubectl-${plugin.metadata.name}`],
    });
    expect(published.files).toContain(platform?.bin.split('/')[0]);
    const { mode } = await stat(`${root}/${platform?.bin}`);
    expect(mode & 0o111).toBe(0o111);
  });

  test('is for systems with a shell, and names the version of Node', async () => {
    const [platform] = plugin.spec.platforms;
    expect(platform?.selector).toEqual({
      matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }],
    });
    expect(await readFile(`${root}/${platform?.bin}`, 'utf8')).toMatch(/^#!\/bin\/sh\n/);
    expect(plugin.spec.caveats).toContain(`Node ${published.engines.node.replace('>=', '')} or newer`);
  });

  test('shows commands that exist', async () => {
    const sources = await Promise.all(
      ['objects', 'processes'].map((name) => readFile(`${root}/src/cli/commands/${name}.ts`, 'utf8')),
    );
    const commands = [...plugin.spec.description.matchAll(/kubectl sallyport (\w+)/g)].map(([, command]) => command);
    expect(commands.length).toBeGreaterThan(2);
    for (const command of commands) expect(sources.join()).toMatch(new RegExp(`\\.command\\('${command}`));
  });
});
