/**
 * Reads the events of a conformance run (`go test -json`) on stdin, keeps them in the file that is named, and prints one
 * line per test, those that were skipped by their reasons, and a summary. Exit code 1 where a test failed, none passed, the run ended
 * without a verdict, or a test was skipped for a feature that the file of reasons does not name (skips.txt; a run of a part has no such
 * file): the suite's own exit code does not tell a run that tested nothing from one that passed.
 */
import { createWriteStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

interface Event {
  readonly Action: string;
  readonly Time: string;
  /** TestConformance/TEST/STEP... */
  readonly Test?: string;
  readonly Output?: string;
}

interface Run {
  readonly started: Map<string, number>;
  readonly failedSteps: Map<string, readonly string[]>;
  readonly verdicts: Map<string, string>;
  /** What a test said last: of one that is skipped, why. */
  readonly lastWords: Map<string, string>;
  suite: string | undefined;
  /** The last lines said outside of any test: why a suite failed before its first one. */
  outside: readonly string[];
}

const [, , file, reasonsFile] = process.argv;
if (file === undefined) throw new Error('usage: judge.ts EVENTS_FILE [REASONS_FILE]');
const copy = createWriteStream(file);
const run: Run = {
  started: new Map(),
  failedSteps: new Map(),
  verdicts: new Map(),
  lastWords: new Map(),
  suite: undefined,
  outside: [],
};
for await (const line of createInterface({ input: process.stdin })) {
  copy.write(`${line}\n`);
  const event = parse(line);
  if (event === undefined) console.error(line);
  else note(event);
}
copy.end();
const unexpected = reasonsFile === undefined ? [] : unexpectedSkips(readReasons(reasonsFile));
for (const [reason, tests] of skipsByReason())
  console.log(`skip  ${String(tests.length).padStart(4)}    ${reason}: ${tests.join(' ')}`);
const count = (verdict: string): number => [...run.verdicts.values()].filter((other) => other === verdict).length;
console.log(
  `${count('pass')} passed, ${count('fail')} failed, ${count('skip')} skipped${run.suite === undefined ? '; the run ended without a verdict' : ''}`,
);
if (run.suite === 'fail' && count('fail') === 0)
  console.log(`the suite failed outside of its tests:\n${run.outside.join('')}`);
for (const test of unexpected) console.log(`${test} was skipped for a reason that ${reasonsFile} does not name`);
process.exitCode = run.suite === 'pass' && count('pass') > 0 && unexpected.length === 0 ? 0 : 1;

function parse(line: string): Event | undefined {
  try {
    return JSON.parse(line) as Event;
  } catch {
    return undefined;
  }
}

function note(event: Event): void {
  const [suite, test, ...steps] = event.Test?.split('/') ?? [];
  if (suite === undefined) return;
  if (test === undefined) noteSuite(event);
  else if (steps.length === 0) noteTest(test, event);
  else if (event.Action === 'fail') run.failedSteps.set(test, [...(run.failedSteps.get(test) ?? []), steps.join('/')]);
}

function noteSuite({ Action: action, Output: output = '' }: Event): void {
  if (action === 'output') run.outside = [...run.outside, output].slice(-20);
  if (isVerdict(action)) run.suite = action;
}

function noteTest(test: string, event: Event): void {
  const { Action: action, Output: output = '' } = event;
  if (action === 'run') run.started.set(test, Date.parse(event.Time));
  // Go frames what a test says with lines of its own.
  if (action === 'output' && !/^(?:---|===|\s*$)/.test(output)) run.lastWords.set(test, output);
  if (isVerdict(action)) conclude(test, event);
}

function isVerdict(action: string): boolean {
  return ['pass', 'fail', 'skip'].includes(action);
}

/** The times are those of the events: the elapsed time that Go reports leaves out steps that ran in parallel. */
function conclude(test: string, { Action: verdict, Time: time }: Event): void {
  run.verdicts.set(test, verdict);
  if (verdict === 'skip') return;
  const seconds = (Date.parse(time) - (run.started.get(test) ?? Number.NaN)) / 1000;
  console.log(`${verdict === 'pass' ? 'ok  ' : 'FAIL'} ${seconds.toFixed(1).padStart(6)} s  ${test}`);
  if (verdict === 'fail') for (const step of run.failedSteps.get(test) ?? []) console.log(`              ${step}`);
}

/** The features by which tests may be skipped: the first words of the lines, without comments. */
function readReasons(path: string): ReadonlySet<string> {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return new Set(lines.map((line) => line.split(/\s/)[0] ?? ''));
}

function unexpectedSkips(features: ReadonlySet<string>): readonly string[] {
  return [...skipsByReason()].flatMap(([reason, tests]) =>
    features.has(/^suite does not support (\S+)$/.exec(reason)?.[1] ?? '') ? [] : tests,
  );
}

/** `    conformance.go:56: Skipping A: suite does not support Mesh` → `suite does not support Mesh`. */
function skipsByReason(): Map<string, string[]> {
  const skipped = [...run.verdicts.keys()].filter((test) => run.verdicts.get(test) === 'skip');
  return Map.groupBy(
    skipped,
    (test) => /([^:]*)$/.exec((run.lastWords.get(test) ?? '').trim())?.[1]?.trim() || 'no reason given',
  );
}
