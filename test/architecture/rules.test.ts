import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { demandingKinds } from '../../src/core/rules/official/table.ts';
import { allRules } from '../../src/core/rules/engine/registry.ts';

// A rule is four things of one name: source, test, page, entry in the registry. None may be missing or left over.
// Source and test are in the folder of the subject.

/** Paths below `src/core/rules`, e.g. `filters/filter-union.ts`. */
const sources = readdirSync('src/core/rules', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .toSorted();
const ids = allRules.map((rule) => rule.id);

/** Paths of the files below a folder that end so, without that ending. */
function stems(folder: string, suffix: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length));
}

/** Ids that sources declare, read from their text: a rule that nobody registered is found, too. */
const declared = sources.flatMap((file) =>
  [...readFileSync(`src/core/rules/${file}`, 'utf8').matchAll(/^\s+id: '([a-z0-9-]+)'/gm)].map(([, id = '']) => ({
    file,
    id,
  })),
);

/** The source that declares a rule. */
function fileOf(id: string): string {
  return declared.find((rule) => rule.id === id)?.file ?? '';
}

describe('rules', () => {
  test('ids are unique kebab-case words', () => {
    expect(ids.filter((id) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(id))).toEqual([]);
    expect(ids).toHaveLength(new Set(ids).size);
  });

  test('every declared rule is registered, once, and every registered one declared', () => {
    expect(declared.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test('no rule goes without a summary, a source and a profile that never interferes', () => {
    const bare = allRules.filter(
      (rule) => rule.summary === '' || rule.source === '' || !['none', 'record'].includes(rule.effect.audit),
    );
    expect(bare.map((rule) => rule.id)).toEqual([]);
  });

  test('strict is never milder than standard', () => {
    const order = ['none', 'record', 'warn', 'deny'];
    expect(
      allRules
        .filter(({ effect }) => order.indexOf(effect.strict) < order.indexOf(effect.standard))
        .map((rule) => rule.id),
    ).toEqual([]);
  });

  test('what a bundle refuses is denied, whatever rule it is a finding of', () => {
    expect(
      allRules.filter(({ id, effect }) => demandingKinds.has(id) && effect.standard !== 'deny').map(({ id }) => id),
    ).toEqual([]);
  });

  test.each(ids)('%s has a source of its own', (id) => {
    expect(declared.filter((rule) => rule.id === id).map(({ file }) => basename(file))).toEqual([`${id}.ts`]);
  });

  test.each(ids)('%s has a test and a page of its own', (id) => {
    expect(existsSync(`test/unit/core/rules/${dirname(fileOf(id))}/${id}.test.ts`)).toBe(true);
    expect(existsSync(`docs/rules/${id}.md`)).toBe(true);
  });

  test('no page is about a rule that does not exist', () => {
    expect(stems('docs/rules', '.md').filter((page) => page !== 'README' && !ids.includes(page))).toEqual([]);
  });

  test('no test is about a rule or source that does not exist', () => {
    expect(
      stems('test/unit/core/rules', '.test.ts').filter(
        (name) => !sources.includes(`${name}.ts`) && !ids.includes(basename(name)),
      ),
    ).toEqual([]);
  });
});
