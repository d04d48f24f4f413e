import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { loadAll } from 'js-yaml';
import { defensiveRules } from '../../src/core/rules/registry.ts';
import { findingsOf } from '../support/rules.ts';

// The page of a rule is what its user reads, so its examples are run and its tables compared with the rule.

/** The text below a heading of the second level, up to the next. */
function section(page: string, heading: string): string {
  const [, text = ''] = page.split(`\n## ${heading}\n`);
  return text.split('\n## ')[0] ?? '';
}

/** The objects of every YAML block in a text. */
function examples(text: string): readonly unknown[] {
  return [...text.matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, yaml = '']) => loadAll(yaml));
}

describe.each(defensiveRules.map((rule) => [rule.id, rule] as const))('docs/rules/%s.md', (id, rule) => {
  const page = readFileSync(`docs/rules/${id}.md`, 'utf8');

  test('says what the rule says', () => {
    const { audit, standard, strict } = rule.effect;
    expect(page.startsWith(`# ${id}\n\n${rule.summary}\n`)).toBe(true);
    expect(page).toContain(`**Source:** ${rule.source}\n`);
    expect(section(page, 'What happens')).toContain(`| audit | standard | strict |\n|---|---|---|\n| ${audit} | ${standard} | ${strict} |\n`);
  });

  test('names the reason that status shows for the wrong example', () => {
    const found = examples(section(page, 'Wrong')).flatMap((object) => findingsOf(rule, object));
    const reasons = found.map((finding) => (finding.consequence ?? rule.consequence)?.reason ?? 'Status and traffic do not react');
    for (const reason of reasons) expect(section(page, 'What happens')).toContain(reason);
    expect(reasons).not.toEqual([]);
  });

  test('every wrong example has this finding', () => {
    const wrong = examples(section(page, 'Wrong'));
    expect(wrong.map((object) => findingsOf(rule, object).length > 0)).toEqual(wrong.map(() => true));
    expect(wrong).not.toEqual([]);
  });

  test('a right example has no finding of any of these rules', () => {
    const right = examples(section(page, 'Right'));
    expect(right.flatMap((object) => defensiveRules.flatMap((other) => findingsOf(other, object)))).toEqual([]);
    expect(right).not.toEqual([]);
  });

  test('says how to silence it', () => {
    expect(section(page, 'How to silence').trim()).not.toBe('');
  });
});
