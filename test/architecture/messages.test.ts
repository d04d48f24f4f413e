import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { messagesPage } from '../../tools/messages.ts';

describe('docs/reference/messages.md', () => {
  const page = readFileSync(new URL('../../docs/reference/messages.md', import.meta.url), 'utf8');

  test('is what tools/messages.ts writes (if not: node tools/messages.ts)', () => {
    expect(page).toBe(messagesPage());
  });

  test.each(['Findings', 'Conditions', 'Command line'])('has messages under %s', (heading) => {
    expect(page.split(`\n## ${heading}\n`)[1]).toMatch(/^\s+### \S+\n\n- `/);
  });

  test('shows expressions in braces, and texts inside of expressions by themselves', () => {
    expect(page).toContain(
      '- `{serviceName(node)} not found. Check its name and namespace, {sourceOf(node)}. Until then, {loss}.`\n',
    );
    expect(page).toContain('- `its share of {failureOf[kind].traffic} is {failureOf[kind].fate}`\n');
  });

  test('has no message of core/graph, which contains no rules, except for values of parameters', () => {
    const files = page.split('\n').filter((line) => line.startsWith('### core/graph/'));
    expect(files).toEqual(['### core/graph/parameters.ts']);
  });
});
