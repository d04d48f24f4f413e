import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { openOptionalSettings, openSettings, type LiveSettings } from '../../../src/cli/process/settings-file.ts';
import { createLogger, createMetrics, type Metrics } from '../../../src/telemetry/index.ts';
import { until } from '../../support/until.ts';

let folder: string;
let metrics: Metrics;
let logged: string[];
let live: LiveSettings | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-settings-'));
  metrics = createMetrics();
  logged = [];
});

afterEach(async () => {
  live?.close();
  live = undefined;
  await rm(folder, { recursive: true });
});

async function open(file: string, opener = openSettings): Promise<LiveSettings> {
  live = await opener(file, { log: createLogger('debug', { write: (line) => logged.push(line) }), metrics });
  return live;
}

/** Writes a file of a volume as the kubelet does: everything anew in a folder, then one link is renamed. */
async function mount(version: string, text: string): Promise<void> {
  const data = join(folder, `..${version}`);
  await mkdir(data);
  await writeFile(join(data, 'settings.yaml'), text);
  await symlink(`..${version}`, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
}

describe('the settings file', () => {
  test('mistakes at the start are told with their places, all at once', async () => {
    const file = join(folder, 'settings.yaml');
    await writeFile(
      file,
      'profile: standart\neffects:\n  duration-from: warn\nnamespaces:\n  - names: [shop]\n    profil: audit\n',
    );
    await expect(open(file)).rejects.toThrow(
      [
        'invalid settings file:',
        `  ${file}:1:1: profile: unsupported value "standart". Did you mean standard?`,
        `  ${file}:3:3: effects.duration-from: unknown rule. Did you mean duration-form?`,
        `  ${file}:6:5: namespaces[0].profil: unknown setting. Did you mean profile?`,
      ].join('\n'),
    );
  });

  test('a file with thousands of mistakes is reported with the first of them and their number', async () => {
    const file = join(folder, 'settings.yaml');
    await writeFile(file, 'profile: audit\n');
    await open(file);
    await writeFile(file, '---\n[\n'.repeat(2_000));
    await until(() => expect(logged.join('')).toContain('the previous settings stay in effect'));
    const { problems } = JSON.parse(logged.at(-1) ?? '') as { readonly problems: readonly string[] };
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toBe(`${file}: and 1900 more`);
  });

  test.each([
    ['no YAML', 'profile: [audit\n', /settings\.yaml:\d+:\d+: invalid YAML/],
    ['two documents', 'profile: audit\n---\nprofile: strict\n', /settings\.yaml:3:1: unexpected second document/],
    ['a list', '- profile: audit\n', /settings\.yaml:1:1: /],
    ['the same setting twice', 'profile: audit\nprofile: strict\n', /settings\.yaml:2:1: duplicate key "profile"/],
  ])('%s is refused', async (_name, text, message) => {
    const file = join(folder, 'settings.yaml');
    await writeFile(file, text);
    await expect(open(file)).rejects.toThrow(message);
  });

  // Locating the 20,000 mistakes of a file of 1 MB took 15 seconds, while nothing else was served.
  test('only the first of many mistakes are told, with the number of the others', async () => {
    const file = join(folder, 'settings.yaml');
    await writeFile(file, `hostnamePolicies:\n${'  - hostnames: [a.example]\n    names: [a]\n'.repeat(500)}`);
    const message = await open(file).then(
      () => '',
      (error: Error) => error.message,
    );
    const lines = message.split('\n');
    expect(lines).toHaveLength(1 + 100 + 1);
    expect(lines[1]).toMatch(/hostnamePolicies\[0\]\.name: must be a DNS name/);
    expect(lines.at(-1)).toMatch(/^ {2}.*settings\.yaml: and 400 more$/);
  });

  test('a file that is missing is told so', async () => {
    await expect(open(join(folder, 'settings.yaml'))).rejects.toThrow(/settings\.yaml: file or folder not found/);
  });

  test.each<[string, (file: string) => unknown, string]>([
    ['a folder', (file) => mkdir(file), 'a folder instead of a file; name the settings file in it'],
    ['a named pipe', (file) => execFileSync('mkfifo', [file]), 'not a regular file; replace it with a regular file'],
    ['an endless device', (file) => symlink('/dev/zero', file), 'not a regular file; replace it with a regular file'],
    [
      'a file of more than 1 MiB',
      (file) => writeFile(file, `profile: audit\n${'# comment\n'.repeat(104_857)}`),
      'cannot read the file: the file has 1048585 bytes, more than the limit of 1048576; use smaller files',
    ],
  ])('%s in its place is reported, and when it comes later the settings stay in effect', async (_, put, problem) => {
    const file = join(folder, 'settings.yaml');
    await put(file);
    await expect(open(file)).rejects.toThrow(problem);
    metrics = createMetrics();
    await rm(file, { recursive: true });
    await writeFile(file, 'profile: strict\n');
    const settings = await open(file);
    await rm(file);
    await put(file);
    await until(() => expect(logged.join('')).toContain(problem));
    expect(settings.current().profile).toBe('strict');
    expect(await metrics.scrape()).toContain('sallyport_settings_reload_failed 1');
  });

  test('an empty file means the defaults', async () => {
    const file = join(folder, 'settings.yaml');
    await writeFile(file, '# nothing yet\n');
    expect((await open(file)).current()).toMatchObject({ profile: 'standard', failurePolicy: 'Ignore' });
  });

  test('a mounted ConfigMap is followed, and a mistake leaves the last good settings in force', async () => {
    const file = join(folder, 'settings.yaml');
    await mount('1', 'profile: audit\n');
    await symlink('..data/settings.yaml', file);
    const settings = await open(file);
    let changes = 0;
    settings.onChange(() => (changes += 1));
    expect(settings.current().profile).toBe('audit');

    await mount('2', 'profile: strict\n');
    await rm(join(folder, '..1'), { recursive: true });
    await until(() => expect(settings.current().profile).toBe('strict'));
    expect(changes).toBe(1);

    await mount('3', 'profile: strictly\n');
    await rm(join(folder, '..2'), { recursive: true });
    await until(async () => expect(await metrics.scrape()).toContain('sallyport_settings_reload_failed 1'));
    expect(settings.current().profile).toBe('strict');
    expect(changes).toBe(1);
    expect(logged.join('')).toContain(
      'settings.yaml:1:1: profile: unsupported value \\"strictly\\". Did you mean strict?',
    );

    await mount('4', 'profile: standard\n');
    await rm(join(folder, '..3'), { recursive: true });
    await until(async () => expect(await metrics.scrape()).toContain('sallyport_settings_reload_failed 0'));
    expect(settings.current().profile).toBe('standard');
  });

  test('a file that need not exist is followed as soon as it appears, and its deletion changes nothing', async () => {
    const file = join(folder, 'settings.yaml');
    const settings = await open(file, openOptionalSettings);
    expect(settings.current()).toMatchObject({ profile: 'standard' });
    await mount('1', 'profile: strict\n');
    await symlink('..data/settings.yaml', file);
    await until(() => expect(settings.current().profile).toBe('strict'));
    await rm(file);
    await until(async () => expect(await metrics.scrape()).toContain('sallyport_settings_reload_failed 1'));
    expect(settings.current().profile).toBe('strict');
  });

  test.each([
    ['that appears applies', 'absent', 'strict'],
    ['that is deleted does not apply', 'present', 'standard'],
  ])('a file that need not exist and %s, although the start already runs', async (_name, before, profile) => {
    const file = join(folder, 'settings.yaml');
    const text = 'profile: strict\n';
    if (before === 'present') await writeFile(file, text);
    const register = metrics.gauge.bind(metrics);
    // The metric is registered immediately before the file is read.
    jest.spyOn(metrics, 'gauge').mockImplementationOnce((options) => {
      if (before === 'absent') writeFileSync(file, text);
      else rmSync(file);
      return register(options);
    });
    expect((await open(file, openOptionalSettings)).current()).toMatchObject({ profile });
  });

  test('a file that need not exist must be valid if it does', async () => {
    const file = join(folder, 'settings.yaml');
    await writeFile(file, 'profil: audit\n');
    await expect(open(file, openOptionalSettings)).rejects.toThrow(/settings\.yaml:1:1: profil: unknown setting/);
  });
});
