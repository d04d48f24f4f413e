import { describe, expect, test } from '@jest/globals';
import { controlCharacterInValue } from '../../../../../src/core/rules/headers/control-character-in-value.ts';
import { consequences, judge, remarks, routeWith } from '../../../../support/rules.ts';

const set = (value: unknown) => ({
  filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'a', value }] } }],
});
const fullPath = (replaceFullPath: string) => ({
  filters: [{ type: 'URLRewrite', urlRewrite: { path: { type: 'ReplaceFullPath', replaceFullPath } } }],
});

describe('control-character-in-value', () => {
  test.each<[string, unknown]>([
    ['plain values', set('a b')],
    ['a tab in a header value', set('a\tb')],
    ['other characters', set('ü€')],
    ['a value that cannot be read', set(1)],
    ['a path of another rule', { matches: [{ path: { type: 'Exact', value: '/a\n' } }, { path: { value: '/a\n' } }] }],
  ])('%s is fine', (_, rule) => {
    expect(judge(controlCharacterInValue, routeWith(rule))).toEqual([]);
  });

  test.each<[string, unknown, string, [shown: string, character: string, scope: string]]>([
    [
      'a header to set',
      set('a\r\nx-evil: 1'),
      'filters[0].requestHeaderModifier.set[0].value',
      ['"a\\r\\nx-evil: 1"', '"\\r"', 'rule'],
    ],
    ['a trailing line break', set('a\n'), 'filters[0].requestHeaderModifier.set[0].value', ['"a\\n"', '"\\n"', 'rule']],
    [
      'a tab before a line break',
      set('a\tb\n'),
      'filters[0].requestHeaderModifier.set[0].value',
      ['"a\\tb\\n"', '"\\n"', 'rule'],
    ],
    ['a path', fullPath('/a\tb'), 'filters[0].urlRewrite.path.replaceFullPath', ['"/a\\tb"', '"\\t"', 'rule']],
    [
      'a prefix',
      { filters: [{ type: 'URLRewrite', urlRewrite: { path: { replacePrefixMatch: '/\0' } } }] },
      'filters[0].urlRewrite.path.replacePrefixMatch',
      ['"/\\u0000"', '"\\u0000"', 'rule'],
    ],
    [
      'a backend',
      { backendRefs: [{ name: 'a', ...set('\u007f') }] },
      'backendRefs[0].filters[0].requestHeaderModifier.set[0].value',
      ['"\\u007f"', '"\\u007f"', 'backendRef'],
    ],
    [
      'a header match',
      { matches: [{ headers: [{ name: 'a', value: 'b\u0000' }] }] },
      'matches[0].headers[0].value',
      ['"b\\u0000"', '"\\u0000"', 'match'],
    ],
    [
      'a query match',
      { matches: [{ queryParams: [{ name: 'a', value: 'b\tc' }] }] },
      'matches[0].queryParams[0].value',
      ['"b\\tc"', '"\\t"', 'match'],
    ],
    [
      'a path expression',
      { matches: [{ path: { type: 'RegularExpression', value: '/a\n' } }] },
      'matches[0].path.value',
      ['"/a\\n"', '"\\n"', 'match'],
    ],
  ])('%s', (_, rule, at, [shown, character, scope]) => {
    const route = routeWith(rule);
    expect(judge(controlCharacterInValue, route)).toEqual([
      [
        `spec.rules[0].${at}`,
        `Invalid value ${shown}: it contains the control character ${character}, which is not allowed in headers and URLs. Remove it. In YAML, text after "|" ends with a line break, and quoted text does not.`,
      ],
    ]);
    expect(consequences(controlCharacterInValue, route)).toEqual([`Accepted UnsupportedValue ${scope}`]);
  });

  test('the name of a session, before v1.7', () => {
    const route = routeWith({ sessionPersistence: { sessionName: 'cart\n' } });
    const found = remarks('control-character-in-value', route, { minor: '1.6', channel: 'experimental' });
    expect(found).toEqual([
      [
        'spec.rules[0].sessionPersistence.sessionName',
        'Invalid cookie or header name "cart\\n": it contains the control character "\\n". Remove it.',
      ],
    ]);
  });
});
