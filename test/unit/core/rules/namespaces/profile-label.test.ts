import { describe, expect, test } from '@jest/globals';
import { labelledProfile, profileLabelRule } from '../../../../../src/core/rules/namespaces/profile-label.ts';
import { judge } from '../../../../support/rules.ts';

function namespaceWith(labels: Readonly<Record<string, unknown>>): unknown {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } };
}

const path = 'metadata.labels["sallyport.dev/profile"]';
const ignored = 'the label is ignored, and the profile of the settings applies.';

describe('profile-label', () => {
  test.each([{}, { 'sallyport.dev/profile': 'audit' }, { 'sallyport.dev/profile': 'strict' }, { profile: 'strickt' }])(
    'valid: %j',
    (labels) => {
      expect(judge(profileLabelRule, namespaceWith(labels))).toEqual([]);
    },
  );

  test.each([
    ['Strict', `Invalid profile "Strict": ${ignored} Did you mean strict?`],
    ['privileged', `Invalid profile "privileged": ${ignored} Use one of audit, standard, strict.`],
    ['', `Invalid profile "": ${ignored} Use one of audit, standard, strict.`],
  ])('invalid: %j', (value, message) => {
    expect(judge(profileLabelRule, namespaceWith({ 'sallyport.dev/profile': value }))).toEqual([[path, message]]);
    expect(labelledProfile({ 'sallyport.dev/profile': value })).toBeUndefined();
  });
});
