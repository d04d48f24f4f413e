import { expect, test } from '@jest/globals';
import { readSettings } from '../../../../src/core/admission/read-settings.ts';
import { defaultSettings, type Settings } from '../../../../src/core/admission/settings.ts';
import { hasHostnamePolicies, policiesOfHostname } from '../../../../src/core/graph/matches/hostname-policies.ts';
import { followPolicySettings } from '../../../../src/cli/process/policy-settings.ts';
import { evaluate } from '../../../support/evaluation.ts';

function settingsFor(...hostnames: readonly string[]): Settings {
  const read = readSettings({
    hostnamePolicies: [{ name: 'shop', hostnames, namespaces: { names: ['shop'] } }],
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.settings;
}

test('the current policies are evaluated after each change of the settings', () => {
  const { kernel } = evaluate([]);
  let current = settingsFor('a.example.com');
  let change = () => {};
  followPolicySettings(
    { current: () => current, onChange: (listener) => void (change = listener) },
    (writes) => void kernel.apply(writes),
  );
  const owned = () =>
    ['a', 'b'].map((label) => kernel.read.list(policiesOfHostname, `of ${label}.example.com`).length).join(' ');
  expect([owned(), kernel.read.query(hasHostnamePolicies)]).toEqual(['1 0', true]);
  current = settingsFor('b.example.com');
  change();
  expect([owned(), kernel.read.query(hasHostnamePolicies)]).toEqual(['0 1', true]);
  current = defaultSettings;
  change();
  expect([owned(), kernel.read.query(hasHostnamePolicies)]).toEqual(['0 0', false]);
});
