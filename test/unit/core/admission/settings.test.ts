import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readSettings, settingNames, type SettingsProblem } from '../../../../src/core/admission/read-settings.ts';
import { defaultSettings, policyFor, type Settings, type WriteFacts } from '../../../../src/core/admission/settings.ts';
import { formatPath } from '../../../../src/core/resources/path.ts';
import { supportedBundles } from '../../../../src/core/schema/index.ts';

function problemsOf(json: unknown): readonly string[] {
  const read = readSettings(json);
  return read.ok ? [] : read.problems.map(({ path, message }: SettingsProblem) => `${formatPath(path)}: ${message}`);
}

function settingsOf(json: unknown): Settings {
  const read = readSettings(json);
  if (!read.ok) throw new Error(problemsOf(json).join('\n'));
  return read.settings;
}

describe('reading settings', () => {
  test.each([undefined, null, {}, { effects: null, namespaces: null, exemptions: {} }])(
    'nothing given (%j) means the defaults',
    (json) => {
      expect(settingsOf(json)).toEqual(defaultSettings);
    },
  );

  test('everything given is taken', () => {
    const given = {
      profile: 'strict',
      effects: { 'regex-not-re2': 'warn', schema: 'record' },
      failurePolicy: 'Fail',
      namespaces: [
        {
          names: ['legacy'],
          selector: { matchLabels: { stage: 'test' } },
          profile: 'audit',
          effects: { 'duration-form': 'none' },
        },
      ],
      profileLabel: 'honor',
      exemptions: {
        annotations: 'permit',
        namespaces: ['kube-system'],
        usernames: ['system:serviceaccount:a:b'],
        groups: ['system:masters'],
      },
      bundleOverrides: [{ kinds: ['HTTPRoute', 'TCPRoute'], bundle: 'v1.7.0', channel: 'experimental' }],
    };
    expect(settingsOf(given)).toEqual({
      ...given,
      bundleOverrides: [{ kinds: ['HTTPRoute', 'TCPRoute'], bundle: '1.7', channel: 'experimental' }],
      hostnamePolicies: [],
    });
  });

  describe('hostname policies', () => {
    const entry = { name: 'shop', hostnames: ['shop.example.com'], namespaces: { names: ['shop'] } };

    test('are read by the schema of HostnamePolicy', () => {
      const paths = ['/cart', '/', '/.well-known', '/..a/...', '/a.b/%20.'];
      const gateways = [{ namespace: 'infra', name: 'front' }];
      const { hostnamePolicies } = settingsOf({
        hostnamePolicies: [entry, { ...entry, name: 'cart', paths, gateways }],
      });
      expect(hostnamePolicies.map(({ name, policy }) => [name, policy.spec])).toEqual([
        ['shop', { hostnames: ['shop.example.com'], namespaces: { names: ['shop'] } }],
        ['cart', { hostnames: ['shop.example.com'], namespaces: { names: ['shop'] }, paths, gateways }],
      ]);
    });

    test.each<[string, unknown, string]>([
      ['no name', { ...entry, name: undefined }, 'hostnamePolicies[0].name: must be a DNS name in lower case'],
      ['a wrong name', { ...entry, name: 'Shop' }, 'hostnamePolicies[0].name: must be a DNS name in lower case'],
      ['no hostnames', { ...entry, hostnames: undefined }, 'hostnamePolicies[0]'],
      ['a wrong hostname', { ...entry, hostnames: ['Shop'] }, 'hostnamePolicies[0].hostnames[0]: '],
      ['a wrong path', { ...entry, paths: ['/a', 'cart'] }, 'hostnamePolicies[0].paths[1]: '],
      [
        'an unknown field',
        { ...entry, hostname: 'a.example.com' },
        'hostnamePolicies[0].hostname: unknown setting. Did you mean hostnames?',
      ],
      [
        'an unknown nested field',
        { ...entry, namespaces: { names: ['shop'], labels: {} } },
        'hostnamePolicies[0].namespaces.labels: unknown setting. Known fields: names, selector.',
      ],
      ['a "." segment', { ...entry, paths: ['/a/.', '/b'] }, 'hostnamePolicies[0].paths[0]: '],
      ['a ".." segment', { ...entry, paths: ['/b', '/a/../b'] }, 'hostnamePolicies[0].paths[1]: '],
      ['an encoded ".." segment', { ...entry, paths: ['/a/.%2E/b'] }, 'hostnamePolicies[0].paths[0]: '],
      ['no namespaces', { ...entry, namespaces: {} }, 'hostnamePolicies[0].namespaces: '],
      [
        'an invalid selector',
        { ...entry, namespaces: { selector: { matchExpressions: [{ key: 'a', operator: 'Equals' }] } } },
        'hostnamePolicies[0].namespaces.selector',
      ],
      ['no object', 'shop', 'hostnamePolicies[0]: must be an object with name, hostnames, paths, namespaces, gateways'],
    ])('with %s are an error', (_, wrong, problem) => {
      const problems = problemsOf({ hostnamePolicies: [JSON.parse(JSON.stringify(wrong))] });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(problem);
    });

    test('with the same name are an error', () => {
      expect(problemsOf({ hostnamePolicies: [entry, entry] })).toEqual([
        'hostnamePolicies[1].name: duplicate name "shop". Use another name',
      ]);
    });
  });

  test('exemptions that are left out are empty', () => {
    expect(settingsOf({ exemptions: { groups: ['ops'] } }).exemptions).toEqual({
      annotations: 'forbid',
      namespaces: [],
      usernames: [],
      groups: ['ops'],
    });
  });

  test.each<[unknown, string]>([
    [
      'strict',
      ': must be an object with profile, effects, failurePolicy, profileLabel, namespaces, exemptions, bundleOverrides, hostnamePolicies, not "strict"',
    ],
    [
      [],
      ': must be an object with profile, effects, failurePolicy, profileLabel, namespaces, exemptions, bundleOverrides, hostnamePolicies, not a list',
    ],
    [{ profil: 'audit' }, 'profil: unknown setting. Did you mean profile?'],
    [
      { colour: 'red' },
      'colour: unknown setting. Use one of profile, effects, failurePolicy, profileLabel, namespaces, exemptions, bundleOverrides, hostnamePolicies',
    ],
    [{ profile: 'Strict' }, 'profile: unsupported value "Strict". Did you mean strict?'],
    [{ profile: 7 }, 'profile: unsupported value 7. Use one of audit, standard, strict'],
    [{ effects: ['deny'] }, 'effects: must map rule ids to none, record, warn or deny, not a list'],
    [{ effects: { 'regex-no-re2': 'warn' } }, 'effects.regex-no-re2: unknown rule. Did you mean regex-not-re2?'],
    [{ effects: { x: 'warn' } }, 'effects.x: unknown rule. See docs/rules for the list of rules'],
    [{ effects: { 'regex-not-re2': 'denny' } }, 'effects.regex-not-re2: unsupported value "denny". Did you mean deny?'],
    [{ failurePolicy: 'fail' }, 'failurePolicy: unsupported value "fail". Did you mean Fail?'],
    [
      { namespaces: { names: ['a'] } },
      'namespaces: must be a list, not an object. Put each entry on its own line after "- "',
    ],
    [{ namespaces: [{ profile: 'audit' }] }, 'namespaces[0]: no namespaces selected. Set names or selector'],
    [{ namespaces: [{ names: [] }] }, 'namespaces[0]: no namespaces selected. Set names or selector'],
    [
      { namespaces: [{ names: ['shop-*'] }] },
      'namespaces[0].names[0]: must be a namespace name (use a selector for many namespaces), not "shop-*"',
    ],
    [
      { namespaces: [{ selector: { matchExpressions: [{ key: 'a', operator: 'in', values: ['b'] }] } }] },
      'namespaces[0].selector.matchExpressions[0].operator: unsupported operator "in". Use In, NotIn, Exists or DoesNotExist',
    ],
    [
      { namespaces: [{ selector: { matchLabel: {} } }] },
      'namespaces[0].selector.matchLabel: unknown selector field. Did you mean matchLabels?',
    ],
    [
      { exemptions: { users: ['jane'] } },
      'exemptions.users: unknown setting. Use one of annotations, namespaces, usernames, groups',
    ],
    [
      { exemptions: { usernames: [''] } },
      'exemptions.usernames[0]: must be a user name as in the audit log, for example system:serviceaccount:flux-system:flux, not ""',
    ],
    [
      { bundleOverrides: [{ bundle: 'v9.9' }] },
      `bundleOverrides[0].bundle: unsupported bundle "v9.9": not a release from v1.0 to v1.7. Use one of ${supportedBundles.join(', ')}`,
    ],
    [
      { bundleOverrides: [{ kinds: ['HttpRoute'], channel: 'stable' }] },
      'bundleOverrides[0].kinds[0]: unsupported value "HttpRoute". Did you mean HTTPRoute?',
    ],
    [
      JSON.parse('{"__proto__": {}}'),
      '__proto__: unknown setting. Use one of profile, effects, failurePolicy, profileLabel, namespaces, exemptions, bundleOverrides, hostnamePolicies',
    ],
    [
      JSON.parse('{"effects": {"constructor": "deny"}}'),
      'effects.constructor: unknown rule. See docs/rules for the list of rules',
    ],
  ])('%j is refused with where, what and what instead', (json, problem) => {
    expect(problemsOf(json)).toContain(problem);
  });

  test('all problems are told at once', () => {
    expect(problemsOf({ profile: 'x', failurePolicy: 'y', namespaces: [{}, { names: [1] }] })).toHaveLength(4);
  });

  test('no JSON value makes it throw', () => {
    const key = fc.constantFrom(...settingNames.map((name) => name.replace(/^.*\./, '')), 'other');
    const json = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, fc.jsonValue(), fc.array(tie('value')), fc.dictionary(key, tie('value'))),
    })).value;
    expect(() =>
      fc.assert(fc.property(json, (value) => expect(readSettings(value)).toHaveProperty('ok'))),
    ).not.toThrow();
  });
});

describe('the policy for a write', () => {
  const bundle = { minor: '1.7', channel: 'standard' } as const;
  const installed = { bundle, certain: true };
  const facts: WriteFacts = {
    namespace: 'shop',
    namespaceLabels: { team: 'sales' },
    kind: 'HTTPRoute',
    username: 'jane',
    groups: ['devs'],
    today: '2026-11-23',
  };
  const exempting = { annotations: 'forbid', today: '2026-11-23' };

  test('without a matching entry, what holds for all holds', () => {
    const settings = settingsOf({
      profile: 'strict',
      effects: { schema: 'warn' },
      namespaces: [{ names: ['other'], profile: 'audit' }],
    });
    expect(policyFor(settings, facts, installed)).toEqual({
      profile: 'strict',
      overrides: { schema: 'warn' },
      bundle,
      exempting,
    });
  });

  test('the first entry that matches holds, and no other', () => {
    const settings = settingsOf({
      namespaces: [
        { names: ['other'], profile: 'strict' },
        { selector: { matchLabels: { team: 'sales' } }, effects: { schema: 'record' } },
        { names: ['shop'], profile: 'audit' },
      ],
    });
    expect(policyFor(settings, facts, installed)).toEqual({
      profile: 'standard',
      overrides: { schema: 'record' },
      bundle,
      exempting,
    });
  });

  test('name and selector must both match where both are given', () => {
    const settings = settingsOf({
      namespaces: [{ names: ['shop'], selector: { matchLabels: { team: 'it' } }, profile: 'audit' }],
    });
    expect(policyFor(settings, facts, installed)).toMatchObject({ profile: 'standard' });
  });

  test('effects of an entry add to those for all, and win', () => {
    const settings = settingsOf({
      effects: { schema: 'deny', 'duration-form': 'none' },
      namespaces: [{ names: ['shop'], effects: { schema: 'warn' } }],
    });
    expect(policyFor(settings, facts, installed)).toMatchObject({
      overrides: { schema: 'warn', 'duration-form': 'none' },
    });
  });

  test('an entry with a profile begins anew, so that audit denies nothing', () => {
    const settings = settingsOf({ effects: { schema: 'deny' }, namespaces: [{ names: ['shop'], profile: 'audit' }] });
    expect(policyFor(settings, facts, installed)).toEqual({ profile: 'audit', overrides: {}, bundle, exempting });
  });

  describe('the label of a namespace', () => {
    const policyWith = (json: unknown, profile: string) =>
      policyFor(
        settingsOf(json),
        { ...facts, namespaceLabels: { team: 'sales', 'sallyport.dev/profile': profile } },
        installed,
      );

    test.each<[string, string | undefined, string, string]>([
      ['standard', undefined, 'strict', 'strict'],
      ['standard', undefined, 'audit', 'standard'],
      ['strict', undefined, 'standard', 'strict'],
      ['audit', undefined, 'standard', 'standard'],
      ['strict', 'strengthen', 'audit', 'strict'],
      ['strict', 'honor', 'audit', 'audit'],
      ['standard', 'honor', 'strict', 'strict'],
      ['standard', 'ignore', 'strict', 'standard'],
      ['strict', 'honor', 'Audit', 'strict'],
      ['strict', 'honor', '', 'strict'],
    ])('settings %s and %s, label %j: %s', (profile, profileLabel, label, expected) => {
      expect(policyWith({ profile, profileLabel: profileLabel ?? null }, label)).toMatchObject({ profile: expected });
    });

    test('an entry with a profile takes precedence, and one without does not', () => {
      const entry = { names: ['shop'], effects: { schema: 'warn' } };
      const settings = { profileLabel: 'honor', namespaces: [{ ...entry, profile: 'audit' }] };
      expect(policyWith(settings, 'strict')).toMatchObject({ profile: 'audit' });
      expect(policyWith({ ...settings, namespaces: [entry] }, 'strict')).toMatchObject({
        profile: 'strict',
        overrides: { schema: 'warn' },
      });
    });

    test('effects for all apply, except to audit, which denies nothing', () => {
      const settings = { profileLabel: 'honor', effects: { schema: 'deny' } };
      expect(policyWith(settings, 'strict')).toMatchObject({ profile: 'strict', overrides: { schema: 'deny' } });
      expect(policyWith(settings, 'audit')).toMatchObject({ profile: 'audit', overrides: {} });
    });

    test('does not reach objects outside of namespaces', () => {
      expect(policyFor(settingsOf({}), { ...facts, namespace: '', namespaceLabels: {} }, installed)).toMatchObject({
        profile: 'standard',
      });
    });
  });

  test('a selector of everything does not reach objects outside of namespaces', () => {
    const settings = settingsOf({ namespaces: [{ selector: {}, profile: 'audit' }] });
    expect(policyFor(settings, { ...facts, namespace: '', namespaceLabels: {} }, installed)).toMatchObject({
      profile: 'standard',
    });
    expect(policyFor(settings, facts, installed)).toMatchObject({ profile: 'audit' });
  });

  test.each([{ namespaces: ['shop'] }, { usernames: ['jane'] }, { groups: ['ops', 'devs'] }])(
    '%j exempts the write',
    (exemptions) => {
      expect(policyFor(settingsOf({ exemptions }), facts, installed)).toBe('exempt');
      expect(
        policyFor(settingsOf({ exemptions }), { ...facts, namespace: 'a', username: 'b', groups: ['c'] }, installed),
      ).not.toBe('exempt');
    },
  );

  test('an override replaces the part of the bundle that it gives, for its kinds', () => {
    const settings = settingsOf({
      bundleOverrides: [{ kinds: ['Gateway'], bundle: 'v1.7' }, { channel: 'experimental' }],
    });
    expect(policyFor(settings, facts, installed)).toMatchObject({ bundle: { minor: '1.7', channel: 'experimental' } });
    expect(policyFor(settings, { ...facts, kind: 'Gateway' }, installed)).toMatchObject({ bundle });
  });

  test('a guessed bundle stays one, unless an override names a bundle', () => {
    const guess = { bundle: { minor: '1.6', channel: 'standard' }, certain: false } as const;
    expect(policyFor(defaultSettings, facts, guess)).toMatchObject({ bundle: guess.bundle, guessed: true });
    expect(policyFor(settingsOf({ bundleOverrides: [{ channel: 'experimental' }] }), facts, guess)).toMatchObject({
      guessed: true,
    });
    expect(policyFor(settingsOf({ bundleOverrides: [{ bundle: 'v1.7' }] }), facts, guess)).toEqual({
      profile: 'standard',
      overrides: {},
      bundle: { minor: '1.7', channel: 'standard' },
      exempting,
    });
  });
});
