import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startProgramBy, type RunningProgram } from '../support/program.ts';
import { gatewayObjects } from '../support/standalone-objects.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const unit = `${root}/deploy/standalone/sallyport.service`;
const host = '127.0.80.1';
const objects = gatewayObjects({ name: 'web', namespace: 'shop' }, '{ name: http, port: 80, protocol: HTTP }');
let folder: string;
let text: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-standalone-'));
  await mkdir(join(folder, 'objects'));
  await writeFile(join(folder, 'objects/gateway.yaml'), objects);
  await chmod(folder, 0o755);
  text = await readFile(unit, 'utf8');
});
afterAll(() => rm(folder, { recursive: true }));

/** The values of a setting of the unit, in order. */
function valuesOf(setting: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^${setting}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

(hasSystemd ? describe : describe.skip)('the unit', () => {
  test('is valid for systemd', async () => {
    const file = join(folder, 'sallyport.service');
    // systemd checks that the program exists.
    await writeFile(file, text.replaceAll('/opt/sallyport/', `${root}/`));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});

const unprivileged = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs'];

/** setpriv needs root, and the test is about ports that only root may bind otherwise. */
const isPossible =
  process.getuid?.() === 0 && spawnSync('setpriv', ['--reuid=65534', '--clear-groups', 'true']).status === 0;

(isPossible ? describe : describe.skip)('the command of the unit, without root', () => {
  let program: RunningProgram | undefined;
  afterEach(async () => {
    await program?.stop('SIGKILL');
    program = undefined;
  });

  /** Starts the command of the unit with its objects and address replaced, and these capabilities. */
  function start(capabilities: readonly string[]): RunningProgram {
    const [command = ''] = valuesOf('ExecStart');
    const [, ...args] = command
      .replace('/etc/sallyport/objects', join(folder, 'objects'))
      .replace('0.0.0.0', host)
      .split(' ');
    const sets = ['inh-caps', 'ambient-caps', 'bounding-set'];
    const wanted = ['-all', ...capabilities.map((name) => `+${name.replace('CAP_', '').toLowerCase()}`)].join(',');
    return startProgramBy(
      [...unprivileged, ...sets.map((set) => `--${set}=${wanted}`)],
      ...args,
      '--probe-port',
      '0',
      '--webhook-port',
      '0',
    );
  }

  test('serves port 80 with the capability of the unit', async () => {
    program = start(valuesOf('AmbientCapabilities').flatMap((value) => value.split(' ')));
    await program.printed(`http://${host}:80/`);
    expect(await statusOf()).toBe(404);
  });

  test('says that a privilege is missing without it', async () => {
    program = start([]);
    // The status names the problem, too, and is printed before the addresses.
    const listed = /Gateway shop\/web listener http .*binding this port needs a privilege that the process lacks/s;
    await program.printed(listed);
    expect(program.output()).toMatch(listed);
  });
});

/** The status of a request for a host that no route has. */
function statusOf(): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host, port: 80, path: '/', headers: { host: 'nobody.example' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}
