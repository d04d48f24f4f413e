/**
 * Summarizes a run of continuous integration:
 *   node tools/ci-summary.ts FOLDER STATUS SKIPS_FILE
 * FOLDER contains the JSON reports of jest and the summary of the conformance suite. STATUS is the exit code of the steps so far.
 * Prints each skipped test, and one line with the number of passed and failed tests. Exit code 1 if a skipped test is not listed in
 * SKIPS_FILE.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface TestFile {
  readonly name: string;
  readonly assertionResults?: readonly { readonly status: string; readonly fullName: string }[];
}

interface Report {
  readonly testResults?: readonly TestFile[];
  readonly numPassedTests?: number;
  readonly numFailedTests?: number;
  readonly numRuntimeErrorTestSuites?: number;
}

/** Results of jest for tests that did not run. */
const leftOut: ReadonlySet<string> = new Set(['pending', 'skipped', 'todo', 'disabled']);

const [, , folder, status, skipsFile] = process.argv;
if (folder === undefined || status === undefined || skipsFile === undefined)
  throw new Error('usage: ci-summary.ts FOLDER STATUS SKIPS_FILE');
const reports = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Report);
const allowed = readFileSync(skipsFile, 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'));
const skipped = reports
  .flatMap(({ testResults = [] }) => testResults)
  .flatMap(({ name: file, assertionResults = [] }) =>
    assertionResults
      .filter((test) => leftOut.has(test.status))
      .map(({ fullName }) => `${file.replace(`${process.cwd()}/`, '')}: ${fullName}`),
  );
const unexpected = skipped.filter((test) => !allowed.some((beginning) => test.startsWith(beginning)));
for (const test of skipped)
  console.log(`${unexpected.includes(test) ? 'skipped without a reason' : 'skipped'}: ${test}`);
const summary = join(folder, 'conformance/summary.txt');
const [, conforming = '0', differing = '0'] =
  (existsSync(summary) ? /^(\d+) passed, (\d+) failed/m.exec(readFileSync(summary, 'utf8')) : undefined) ?? [];
const passed = sum(({ numPassedTests = 0 }) => numPassedTests) + Number(conforming);
const failed =
  sum(({ numFailedTests = 0, numRuntimeErrorTestSuites = 0 }) => numFailedTests + numRuntimeErrorTestSuites) +
  Number(differing) +
  unexpected.length;
// A failed step without a failed test (install, types, lint, a test file that does not load) counts as one failure.
console.log(`${passed} passed, ${failed === 0 && status !== '0' ? 1 : failed} failed`);
process.exitCode = unexpected.length === 0 ? 0 : 1;

function sum(countOf: (report: Report) => number): number {
  return reports.reduce((total, report) => total + countOf(report), 0);
}
