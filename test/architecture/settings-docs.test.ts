import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { readSettings, settingNames } from '../../src/core/admission/read-settings.ts';
import { defaultSettings } from '../../src/core/admission/settings.ts';

const guide = readFileSync(new URL('../../docs/guides/settings.md', import.meta.url), 'utf8');
const rows = new Map(
  [...guide.matchAll(/^\| `([^`]+)` \| (.*?) \|/gm)].map(([, name = '', value = '']) => [name, value]),
);
const example: unknown = load(/```yaml\n([\s\S]*?)```/.exec(guide)?.[1] ?? '', {
  schema: CORE_SCHEMA.withTags(mergeTag),
});

describe('the guide on settings', () => {
  test('has every setting, and no other', () => {
    expect([...rows.keys()].sort()).toEqual([...settingNames].sort());
  });

  test('names the defaults', () => {
    expect(rows.get('profile')).toBe(`\`${defaultSettings.profile}\``);
    expect(rows.get('failurePolicy')).toBe(`\`${defaultSettings.failurePolicy}\``);
  });

  test('has an example that can be used, and that shows every setting', () => {
    expect(readSettings(example)).toMatchObject({ ok: true });
    expect([...new Set(namesIn(example, ''))].filter((name) => settingNames.includes(name)).sort()).toEqual(
      [...settingNames].sort(),
    );
  });
});

/** Paths of everything in a document, as `settingNames` writes them. */
function namesIn(json: unknown, at: string): readonly string[] {
  if (Array.isArray(json)) return json.flatMap((item) => namesIn(item, `${at}[]`));
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([key, value]) => {
    const name = at === '' ? key : `${at}.${key}`;
    return [name, ...namesIn(value, name)];
  });
}
