import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { load, loadAll } from 'js-yaml';
import { objectRules } from '../../src/core/rules/engine/registry.ts';
import { findings } from '../../src/core/rules/engine/run.ts';
import type { Finding } from '../../src/core/rules/engine/rule.ts';
import { variedParts } from '../support/consequences.ts';
import { evaluate, type Facts, type World } from '../support/evaluation.ts';
import { exampleWorld } from '../support/rule-messages.ts';
import { examples, rulePage, section } from '../support/rule-pages.ts';

// The consequence of a rule is fixed, except for the parts that the rule declares to vary. The examples of rule pages and the golden
// cases show which parts vary; test/support/rules.ts checks the same in the tests of each rule.

const golden = new URL('../golden/', import.meta.url);

function* worlds(): Iterable<World> {
  for (const { id } of objectRules) yield exampleWorld(examples(section(rulePage(id), 'Wrong')));
  for (const entry of readdirSync(golden, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const [input, facts] = ['input.yaml', 'facts.yaml'].map((file) => new URL(`${entry.name}/${file}`, golden));
    if (input === undefined || facts === undefined) continue;
    const known = existsSync(facts) ? (load(readFileSync(facts, 'utf8')) as Facts) : {};
    yield evaluate(loadAll(readFileSync(input, 'utf8')), known);
  }
}

function findingsIn({ kernel, candidates }: World): readonly Finding[] {
  return candidates.flatMap(({ resource: { ref } }) => kernel.read.query(findings, ref.kind, ref.namespace, ref.name));
}

test('a finding changes only the parts of the consequence that its rule declares to vary', () => {
  const all = [...worlds()].flatMap(findingsIn);
  const undeclared = objectRules.flatMap((rule) => {
    const own = all.filter((finding) => finding.rule === rule.id);
    const parts = new Set(own.flatMap((finding) => variedParts(rule, finding)));
    return [...parts].filter((part) => rule.varies?.includes(part) !== true).map((part) => `${rule.id}: ${part}`);
  });
  expect(all.length).toBeGreaterThan(300);
  expect(undeclared).toEqual([]);
});
