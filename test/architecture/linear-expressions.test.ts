import { expect, test } from '@jest/globals';
import { parseSync } from '@swc/core';
import { analyse } from 'scslre';
import { textOf, trackedFiles } from './sources.ts';

/** The regular expressions in the code of a file. */
function expressionsOf(file: string): readonly RegExp[] {
  const found: RegExp[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, pattern, flags } = node as Readonly<Record<string, unknown>>;
    if (type === 'RegExpLiteral') found.push(new RegExp(String(pattern), String(flags)));
    for (const part of Object.values(node)) visit(part);
  };
  visit(parseSync(textOf(file), { syntax: 'typescript', target: 'es2024' }));
  return found;
}

/**
 * Whether an expression can read a text more often than in proportion to its length. `Move`: like `/ +$/`, which begins anew at each
 * character of a run inside the text.
 */
function isSuperLinear(expression: RegExp): boolean {
  return analyse(expression, { reportTypes: { Move: true, Self: true, Trade: true } }).reports.length > 0;
}

test('expressions that take the square of a text are recognized', () => {
  expect([/ +$/, /^(?:a*)*$/, /a*a*b/].map(isSuperLinear)).toEqual([true, true, true]);
  expect([/^ +/, /^[a-z]+$/, /,/].map(isSuperLinear)).toEqual([false, false, false]);
});

test('no expression of the sources takes the square of a text', () => {
  const files = trackedFiles().filter((file) => /^src\/.*\.ts$/.test(file));
  const expressions = files.flatMap((file) => expressionsOf(file).map((expression) => ({ file, expression })));
  expect(expressions.length).toBeGreaterThan(100);
  const wrong = expressions.filter(({ expression }) => isSuperLinear(expression));
  expect(wrong.map(({ file, expression }) => `${file}: ${String(expression)}`)).toEqual([]);
});
