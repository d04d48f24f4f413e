import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('path-replacement-syntax', () => {
  test.each<[object]>([
    [
      {
        matches: [{ path: { type: 'PathPrefix', value: '/old' } }],
        filters: [
          { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' } } },
        ],
      },
    ],
    [
      {
        matches: [{ path: { type: 'PathPrefix', value: '/old' } }],
        filters: [{ type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '' } } }],
      },
    ],
  ])('%j is fine', (value) => {
    expect(remarks('path-replacement-syntax', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        matches: [{ path: { type: 'PathPrefix', value: '/old' } }],
        filters: [
          { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: 'new' } } },
        ],
      },
      [
        'spec.rules[0].filters[0].urlRewrite.path.replacePrefixMatch',
        'Invalid replacePrefixMatch "new": a path must start with "/". Use "/new".',
      ],
    ],
    [
      {
        matches: [{ path: { type: 'PathPrefix', value: '/old' } }],
        filters: [
          { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplaceFullPath', replaceFullPath: '/new?debug=1' } } },
        ],
      },
      [
        'spec.rules[0].filters[0].urlRewrite.path.replaceFullPath',
        'Invalid replaceFullPath "/new?debug=1": a path must not contain "?". Remove query and fragment: they cannot be replaced.',
      ],
    ],
    [
      {
        matches: [{ path: { type: 'PathPrefix', value: '/old' } }],
        filters: [{ type: 'URLRewrite', urlRewrite: { path: { type: 'ReplaceFullPath', replaceFullPath: '' } } }],
      },
      [
        'spec.rules[0].filters[0].urlRewrite.path.replaceFullPath',
        'Invalid replaceFullPath "": a path must start with "/". Use "/".',
      ],
    ],
    [
      {
        backendRefs: [],
        filters: [
          { type: 'RequestRedirect', requestRedirect: { path: { type: 'ReplaceFullPath', replaceFullPath: '/a b' } } },
        ],
      },
      [
        'spec.rules[0].filters[0].requestRedirect.path.replaceFullPath',
        'Invalid replaceFullPath "/a b": a path must not contain " ". Use %20 for a space.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('path-replacement-syntax', object(value))).toEqual(expected);
  });
});
