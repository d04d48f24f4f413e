import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { parseSync } from '@swc/core';
import { mutantsOf } from '../../tools/mutants.ts';

test.each(['src/proxy/handling/retry.ts', 'src/kubernetes/lease.ts', 'src/core/graph/backends/backends.ts'])(
  'the mutants of %s are different and can be parsed',
  (file) => {
    const mutants = mutantsOf(readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8'));
    expect(mutants.length).toBeGreaterThan(10);
    for (const { text } of mutants)
      expect(() => parseSync(text, { syntax: 'typescript', target: 'es2024' })).not.toThrow();
    expect(new Set(mutants.map(({ text }) => text)).size).toBe(mutants.length);
  },
);
