/**
 * Mutation testing: changes sources in one place at a time and runs their tests, which must fail.
 *
 *   node tools/mutate.ts [--fail] [file…]
 *
 * Default: the files that differ from main. The tests of a file are its unit test, the tests that import it, and those in TESTS.
 * COUNT mutants are a random sample (50; 0 for all) for SEED. With --fail the exit code is 1 if a mutant survives. Everything
 * happens in a copy of the checkout, in a temporary folder, at low priority.
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutantsOf, type Mutant } from './mutants.ts';

/** A mutant of one file of the checkout. */
export interface Candidate extends Mutant {
  readonly file: string;
  /** Milliseconds after which its tests count as failed, because the mutant may loop forever. */
  readonly limit: number;
  readonly tests: readonly string[];
}

/** Runs tests with one file changed. Returns whether they pass. */
export type TestRun = (candidate: Candidate) => Promise<boolean>;

/** Returns the mutants whose tests pass, and reports each at once. */
export async function survivorsOf(
  candidates: readonly Candidate[],
  run: TestRun,
  tell: (survivor: Candidate) => void,
): Promise<readonly Candidate[]> {
  const survivors: Candidate[] = [];
  for (const candidate of candidates) {
    if (!(await run(candidate))) continue;
    survivors.push(candidate);
    tell(candidate);
  }
  return survivors;
}

/** A random sample of the entries, in their order, reproducible by seed. All entries if there are not more, or if the count is 0. */
export function sample<T>(entries: readonly T[], count: number, seed: number): readonly T[] {
  if (count === 0 || entries.length <= count) return entries;
  let state = seed;
  // Lehmer's generator is good enough for a sample.
  const next = (): number => (state = (state * 48_271 + 11) % 2_147_483_647);
  const chosen = new Set(
    entries
      .map((_, index) => ({ index, rank: next() }))
      .toSorted((one, other) => one.rank - other.rank)
      .slice(0, count)
      .map(({ index }) => index),
  );
  return entries.filter((_, index) => chosen.has(index));
}

/** The changed lines of a mutant, as a diff. */
export function diffOf(original: string, mutated: string): string {
  const [before, after] = [original.split('\n'), mutated.split('\n')];
  let start = 0;
  while (before[start] === after[start]) start += 1;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const lines = (all: readonly string[], sign: string) =>
    all.slice(start, all.length - end).map((line) => `  ${sign}${line}`);
  return [...lines(before, '-'), ...lines(after, '+')].join('\n');
}

/** The tests of a source among all test files: its unit test, and those that import it. `read` returns the text of a test. */
export function testsOf(file: string, tests: readonly string[], read: (test: string) => string): readonly string[] {
  const mirror = file.replace(/^src\//, 'test/unit/').replace(/\.ts$/, '.test.ts');
  return tests.filter((test) => test === mirror || read(test).includes(`'${relative(dirname(test), file)}'`));
}

const root = fileURLToPath(new URL('..', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { fail: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  setPriority(19);
  const files = positionals.length > 0 ? positionals.map((file) => relative(root, file)) : changedFiles();
  const copy = copyCheckout();
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const candidates: Candidate[] = [];
  for (const file of files) candidates.push(...(await candidatesOf(file, copy)));
  const tried = sample(candidates, Number(process.env['COUNT'] ?? 50), Number(process.env['SEED'] ?? 1));
  console.log(`${candidates.length} mutants in ${files.length} files, ${tried.length} of them are tried`);
  const survivors = await survivorsOf(
    tried,
    (candidate) => passes(copy, candidate),
    (survivor) => {
      console.log(
        `${survivor.file}:${survivor.line}: ${survivor.what}\n${diffOf(readFileSync(join(root, survivor.file), 'utf8'), survivor.text)}`,
      );
    },
  );
  const killed = tried.length - survivors.length;
  console.log(
    `${killed} of ${tried.length} killed${tried.length === 0 ? '' : ` (${Math.round((100 * killed) / tried.length)} %)`}`,
  );
  process.exitCode = values.fail && survivors.length > 0 ? 1 : 0;
}

function git(...args: readonly string[]): readonly string[] {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
}

/** Sources that differ from the branch main, committed or not. */
function changedFiles(): readonly string[] {
  const changed = [
    ...git('diff', '--name-only', git('merge-base', 'main', 'HEAD')[0] ?? 'HEAD'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
  return [...new Set(changed)].filter((file) => /^src\/.*\.ts$/.test(file) && existsSync(join(root, file)));
}

/** Copies all files that git tracks or would add, and the generated validators. Links the packages. */
function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'sallyport-mutate-'));
  const files = [...git('ls-files'), ...git('ls-files', '--others', '--exclude-standard'), 'src/core/schema/generated'];
  for (const file of files) {
    if (!existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The mutants of a file, or none without tests. The tests must pass without a mutant. Their duration determines the time limit. */
async function candidatesOf(file: string, copy: string): Promise<readonly Candidate[]> {
  const all = git('ls-files', 'test', '--cached', '--others', '--exclude-standard').filter((name) =>
    name.endsWith('.test.ts'),
  );
  const own = testsOf(file, all, (test) => readFileSync(join(root, test), 'utf8'));
  const tests = [...new Set([...own, ...(process.env['TESTS'] ?? '').split(' ').filter((name) => name !== '')])];
  if (tests.length === 0) {
    console.log(`${file}: no test imports it; name some as TESTS`);
    return [];
  }
  const text = readFileSync(join(root, file), 'utf8');
  const original: Candidate = { file, tests, text, line: 0, what: 'nothing', limit: 600_000 };
  const start = performance.now();
  if (!(await passes(copy, original)))
    throw new Error(`the tests of ${file} fail without a mutant: ${tests.join(' ')}`);
  const limit = Math.ceil(10_000 + 4 * (performance.now() - start));
  return mutantsOf(text).map((mutant) => ({ ...mutant, file, tests, limit }));
}

/** Whether the tests pass in the copy when the file has this text. */
async function passes(copy: string, { file, text, tests, limit }: Candidate): Promise<boolean> {
  const original = readFileSync(join(root, file));
  writeFileSync(join(copy, file), text);
  const jest = spawn(
    join(root, 'node_modules/.bin/jest'),
    ['--bail', '--silent', '--runInBand', '--forceExit', '--runTestsByPath', ...tests],
    {
      cwd: copy,
      stdio: 'ignore',
      timeout: limit,
      killSignal: 'SIGKILL',
      env: { ...process.env, NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' },
    },
  );
  const code = await new Promise((resolve, reject) => jest.once('error', reject).once('exit', resolve));
  writeFileSync(join(copy, file), original);
  return code === 0;
}
