import { describe, expect, test } from '@jest/globals';
import { textOf, trackedFiles } from './sources.ts';

const files = trackedFiles();
const code = files.filter((file) => /\.(?:ts|js|mjs|sh)$/.test(file));
const core = code.filter((file) => file.startsWith('src/core/'));

/** What reaches the outside or differs from run to run; core gets such things as data. */
const impurities = [
  'Date.now(',
  'new Date(',
  'Math.random(',
  'process.',
  'console.',
  'performance.',
  'setTimeout(',
  'setInterval(',
  'setImmediate(',
  'globalThis',
  'fetch(',
  'crypto.',
];

// Written in pieces, or this file would name what no file may.
const workplace = [
  ['/wo', 'rk/'],
  ['/tmp/br', 'iefs'],
  ['help', 'er-'],
  ['fa', 'rm-'],
].map((parts) => parts.join(''));

describe('repository', () => {
  test('core is pure', () => {
    expect(core.length).toBeGreaterThan(100);
    const found = core.flatMap((file) =>
      impurities.filter((word) => textOf(file).includes(word)).map((word) => `${file}: ${word}`),
    );
    expect(found).toEqual([]);
  });

  test.each(workplace)('no file names the place where it was written (%#)', (word) => {
    // Names of packages are not ours to choose.
    expect(files.filter((file) => file !== 'package-lock.json' && textOf(file).includes(word))).toEqual([]);
  });

  test('README lists each target of the Makefile', () => {
    const targets = [...textOf('Makefile').matchAll(/^([a-z0-9-]+):.*##/gm)].map(([, target = '']) => target);
    expect(targets).toContain('soak');
    const readme = textOf('README.md');
    // `make` alone prints the help.
    expect(targets.filter((target) => target !== 'help' && !readme.includes(`\`make ${target}\``))).toEqual([]);
  });
});
