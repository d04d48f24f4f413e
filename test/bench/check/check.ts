/**
 * Measures `sallyport check` beside kubeconform: the same files and CRD schemas, on one core, by turns. Time is that of the
 * processor, start included, so that other work on the machine counts little. Then start-up, and memory over a long stream.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { route, streamOfObjects, writeObjects, writeSchemas } from './inputs.ts';

const [kubeconform = ''] = process.argv.slice(2);
const files = Number(process.env['FILES'] ?? 500);
const rounds = Number(process.env['ROUNDS'] ?? 3);
const startRounds = 15;
const streamBytes = 100 * 1024 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'bench-check-'));
/** As bin/sallyport runs it: compiled code is kept between runs. */
const environment = { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: join(folder, 'compiled') };
/** Tells the most memory that the program had, when it ends. */
const tellMemory =
  'data:text/javascript,process.on("exit",()=>process.stderr.write(String(process.resourceUsage().maxRSS)))';

try {
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', 'tools/build.ts', join(folder, 'dist')], {
    stdio: 'inherit',
  });
  compareSpeed();
  measureStart();
  await measureMemory();
} finally {
  rmSync(folder, { recursive: true });
}

function compareSpeed(): void {
  const objects = writeObjects(join(folder, 'objects'), files);
  const schemas = writeSchemas(join(folder, 'schemas'));
  const programs: Readonly<Record<string, readonly string[]>> = {
    kubeconform: [kubeconform, '-n', '1', '-schema-location', schemas, join(folder, 'objects')],
    'check --stateless': [...check(), '--stateless', join(folder, 'objects')],
    check: [...check(), join(folder, 'objects')],
    'check --closed': [...check(), '--closed', join(folder, 'objects')],
  };
  const times = new Map(Object.keys(programs).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, command] of Object.entries(programs)) times.get(name)?.push(processorSeconds(command));
  }
  console.log(`${objects} objects in ${files} files, one core, best of ${rounds}:`);
  const rates = new Map([...times].map(([name, seconds]) => [name, objects / Math.min(...seconds)]));
  const peer = rates.get('kubeconform') ?? Number.NaN;
  for (const [name, rate] of rates)
    console.log(
      `  ${name.padEnd(20)} ${rate.toFixed(0).padStart(7)} objects/s   ${(rate / peer).toFixed(2)} of kubeconform`,
    );
}

function check(): readonly string[] {
  return [process.execPath, join(folder, 'dist/sallyport.js'), 'check'];
}

/** What a command takes of the processor, in seconds, user and system together; it must end with 0. */
function processorSeconds(command: readonly string[]): number {
  const { status, stderr } = spawnSync(
    'bash',
    ['-c', 'TIMEFORMAT="%U %S"; time taskset -c 0 "$@" >/dev/null', 'bash', ...command],
    { encoding: 'utf8', env: environment },
  );
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${stderr}`);
  return (stderr.trim().split('\n').at(-1) ?? '').split(' ').reduce((sum, seconds) => sum + Number(seconds), 0);
}

function measureStart(): void {
  const file = join(folder, 'one.yaml');
  writeFileSync(file, route(0, 1));
  const seconds = Array.from({ length: startRounds }, () => processorSeconds([...check(), '--stateless', file])).sort(
    (one, other) => one - other,
  );
  console.log(
    `check of one object: ${(1000 * (seconds[Math.floor(startRounds / 2)] ?? Number.NaN)).toFixed(0)} ms of the processor, median of ${startRounds}`,
  );
}

async function measureMemory(): Promise<void> {
  const [node = '', ...args] = check();
  const child = spawn(node, ['--import', tellMemory, ...args, '--stateless', '-'], {
    env: environment,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const ended = new Promise((resolve) => {
    child.once('close', resolve);
  });
  await pipeline(Readable.from(streamOfObjects(streamBytes)), child.stdin);
  await ended;
  console.log(`check --stateless of a stream of 100 MiB: ${(Number(told) / 1024).toFixed(0)} MiB at most`);
}
