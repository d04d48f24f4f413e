import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { loadAll } from 'js-yaml';
import { findings } from '../../src/core/rules/engine/run.ts';
import { statuses } from '../../src/core/status/emit.ts';
import { configuration } from '../../src/core/routing/emit.ts';
import { evaluate, writeOf } from '../support/evaluation.ts';
import { textOf, trackedFiles } from './sources.ts';

// The kernel refuses a computation that reads an index of its own stratum or a higher one. It does so when the
// computation runs; here all of them run.

const folder = new URL('../../examples/quickstart/', import.meta.url);
const objects = readdirSync(folder)
  .sort()
  .flatMap((file) => loadAll(readFileSync(new URL(file, folder), 'utf8')));
const sources = trackedFiles()
  .filter((file) => /^src\/core\/(?!incremental\/).*\.ts$/.test(file))
  .map((file) => ({ file, text: textOf(file) }));

function occurrences(pattern: RegExp): readonly string[] {
  return sources.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map((match) => `${file} ${match[1] ?? ''}`.trim()),
  );
}

describe('strata', () => {
  test('every query, index and emission takes its stratum from the table', () => {
    const declared = occurrences(/= define(?:Query|Index|Emission)(?:<[^(]*>)?\(/g);
    expect(occurrences(/^ {2}stratum: strata\./gm)).toEqual(declared);
    expect(declared.length).toBeGreaterThan(10);
  });

  test('every index is part of the evaluation, and every emission is followed by some command', () => {
    const evaluation = textOf('src/core/evaluation.ts');
    const commands = trackedFiles()
      .filter((file) => file.startsWith('src/cli/'))
      .map(textOf)
      .join('');
    const without = (what: string, text: string) =>
      occurrences(new RegExp(`export const (\\w+) = define${what}`, 'g'))
        .map((found) => found.split(' ')[1] ?? '')
        .filter((name) => !new RegExp(`[[ ]${name}[,\\]]`).test(text));
    expect(without('Index', evaluation)).toEqual([]);
    expect(without('Emission', commands)).toEqual([]);
    expect(without('Index', '').length).toBeGreaterThan(4);
    expect(without('Emission', '').length).toBeGreaterThan(2);
  });

  test('the quickstart evaluates, and no rule fails', () => {
    const { kernel, candidates } = evaluate(objects);
    const found = candidates.flatMap(({ resource: { ref } }) =>
      kernel.read.query(findings, ref.kind, ref.namespace, ref.name),
    );
    expect(found.filter(({ message }) => message.includes('could not judge'))).toEqual([]);
    expect(found.length).toBeGreaterThan(0);
    expect(kernel.emitted(statuses).size).toBeGreaterThan(3);
    expect(kernel.emitted(configuration).size).toBeGreaterThan(5);
  });

  test('so it does without any one of its objects, on an overlay', () => {
    const { kernel, candidates } = evaluate(objects);
    for (const { resource } of candidates) {
      const overlay = kernel.overlay([writeOf(resource.ref, undefined)]);
      const changed = [...overlay.affected(findings)].flatMap((affected) => affected.after());
      expect(changed.filter(({ message }) => message.includes('could not judge'))).toEqual([]);
    }
  });
});
