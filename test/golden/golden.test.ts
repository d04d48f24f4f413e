import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { dump, load, loadAll } from 'js-yaml';
import { evaluate, type Facts } from '../support/evaluation.ts';
import { present } from './present.ts';

// One folder a case: input.yaml in, expected.yaml out, facts.yaml for what is not an object. `make golden` rewrites
// what is expected; it is reviewed as a diff.

const root = new URL('./', import.meta.url);
const rewriting = process.env['UPDATE_GOLDEN'] === '1';
const cases = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
  .sort();
const known = new Set(['input.yaml', 'facts.yaml', 'expected.yaml']);

function read(name: string, file: string): string {
  return readFileSync(new URL(`${name}/${file}`, root), 'utf8');
}

/** What the evaluation of a case says, as YAML. */
function outcomeOf(name: string): string {
  const facts = existsSync(new URL(`${name}/facts.yaml`, root)) ? (load(read(name, 'facts.yaml')) as Facts) : {};
  return dump(present(evaluate(loadAll(read(name, 'input.yaml')), facts)), {
    lineWidth: 160,
    noRefs: true,
    flowLevel: 5,
  });
}

describe('golden', () => {
  test('there are cases', () => {
    expect(cases.length).toBeGreaterThan(0);
  });

  test.each(cases)('%s', (name) => {
    const actual = outcomeOf(name);
    if (rewriting) writeFileSync(new URL(`${name}/expected.yaml`, root), actual);
    expect(actual).toBe(read(name, 'expected.yaml'));
  });

  test.each(cases)('%s: nothing but the known files, and a comment that says what it is about', (name) => {
    const strangers = readdirSync(new URL(`${name}/`, root)).filter((file) => !known.has(file));
    expect(strangers).toEqual([]);
    expect(read(name, 'input.yaml')).toMatch(/^# .+/);
  });
});
