import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { exampleMessages } from '../support/rule-messages.ts';
import { indexedRules, rulesIndex, rulesWithPage } from '../../tools/rules-index.ts';

describe('docs/rules/README.md', () => {
  const page = readFileSync(new URL('../../docs/rules/README.md', import.meta.url), 'utf8');

  test('is what tools/rules-index.ts writes (if not: node tools/rules-index.ts)', () => {
    expect(page).toBe(rulesIndex(indexedRules(), rulesWithPage(), exampleMessages));
  });

  test('has a row for each rule', () => {
    expect([...page.matchAll(/^\| [[`]([a-z0-9-]+)[\]`]/gm)].map(([, id]) => id)).toEqual(
      expect.arrayContaining(indexedRules().map(({ id }) => id)),
    );
  });
});

describe('the table of rules', () => {
  test('keeps its columns whatever a summary holds', () => {
    const [rule] = indexedRules();
    if (rule === undefined) throw new Error('the registry is empty');
    const row = rulesIndex([{ ...rule, summary: 'either a | or b' }], new Set())
      .split('\n')
      .find((line) => line.includes('either'));
    expect(row).toContain('either a \\| or b');
  });
});
