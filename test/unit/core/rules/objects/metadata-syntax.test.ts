import { describe, expect, jest, test } from '@jest/globals';
import { objectOf, remarks, soundRoute } from '../../../../support/rules.ts';

const object = (metadata: object): unknown => ({
  ...(soundRoute() as object),
  metadata: { name: 'cart', namespace: 'shop', ...metadata },
});
const key = (shown: string) =>
  `Invalid key ${shown}. Use up to 63 letters, digits, "-", "_" and ".", with an optional domain prefix, for example team or example.com/team.`;

describe('metadata-syntax', () => {
  test.each<[object]>([
    [{}],
    [{ name: 'cart.example.com' }],
    [{ name: '1' }],
    [{ name: 'a'.repeat(253) }],
    [{ namespace: undefined }],
    [{ labels: { team: 'shop', 'example.com/Team_1': '', 'a.b': 'X-1_y.z', gone: null } }],
    [{ annotations: { 'Example.com/note': 'any text, of any length: \u00e4\n', team: '' } }],
    [{ labels: 'none', annotations: ['none'] }],
  ])('%j is fine', (metadata) => {
    expect(remarks('metadata-syntax', object(metadata))).toEqual([]);
  });

  test.each<[object, string, string]>([
    [{ name: 'My_Cart' }, 'metadata.name', 'Invalid name "My_Cart". Use "my-cart".'],
    [
      { name: '-' },
      'metadata.name',
      'Invalid name "-". Use at most 253 lower-case letters, digits, -, . and nothing else, with a letter or digit at both ends.',
    ],
    [
      { namespace: 'shop.eu' },
      'metadata.namespace',
      'Invalid namespace "shop.eu". Use at most 63 lower-case letters, digits, - and nothing else, with a letter or digit at both ends.',
    ],
    [{ namespace: 'Shop' }, 'metadata.namespace', 'Invalid namespace "Shop". Use "shop".'],
    [{ labels: { 'team/': 'shop' } }, 'metadata.labels["team/"]', key('"team/"')],
    [{ labels: { 'Example.com/team': 'shop' } }, 'metadata.labels["Example.com/team"]', key('"Example.com/team"')],
    [{ annotations: { 'a/b/c': '' } }, 'metadata.annotations["a/b/c"]', key('"a/b/c"')],
    [
      { labels: { version: 1.5 } },
      'metadata.labels.version',
      'Value of "version" must be a string. Put it in quotes: "1.5".',
    ],
    [
      { annotations: { enabled: true } },
      'metadata.annotations.enabled',
      'Value of "enabled" must be a string. Put it in quotes: "true".',
    ],
    [
      { annotations: { list: [] } },
      'metadata.annotations.list',
      'Value of "list" must be a string, not a list. Put it in quotes.',
    ],
    [
      { labels: { odd: { toString: 1, valueOf: 1 } } },
      'metadata.labels.odd',
      'Value of "odd" must be a string, not an object. Put it in quotes.',
    ],
    [
      { labels: { team: 'the shop' } },
      'metadata.labels.team',
      'Invalid label value "the shop". Use at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends. Use annotations for longer texts.',
    ],
  ])('%j', (metadata, path, message) => {
    expect(remarks('metadata-syntax', object(metadata))).toEqual([[path, message]]);
  });

  // A correction took the square of the length: of this name minutes.
  test('names that are too long to be corrected', () => {
    expect(remarks('metadata-syntax', object({ name: `a${'.'.repeat(1_000_000)}b` }))).toEqual([
      [
        'metadata.name',
        `Invalid name "a${'.'.repeat(62)}…". Use at most 253 lower-case letters, digits, -, . and nothing else, with a letter or digit at both ends.`,
      ],
    ]);
  });

  // The correction of such a name took 0.1 s.
  test.each(['a,', 'İ'])('names of %j without end are not corrected', (part) => {
    const folded = jest.spyOn(String.prototype, 'toLowerCase');
    const text = part.repeat(2_000);
    const found = remarks('metadata-syntax', object({ name: text, namespace: text }));
    const lengths = folded.mock.contexts.map((context) => String(context).length);
    folded.mockRestore();
    expect(found.map(([path]) => path)).toEqual(['metadata.name', 'metadata.namespace']);
    expect(found.map(([, message]) => message.includes('Use at most'))).toEqual([true, true]);
    expect(Math.max(0, ...lengths)).toBeLessThan(2_000);
  });

  test('in kinds without other rules, too', () => {
    const mesh = {
      ...(objectOf('XMesh', 'v1alpha1', { controllerName: 'example.com/mesh' }) as object),
      metadata: { name: 'Mesh' },
    };
    expect(remarks('metadata-syntax', mesh).map(([path]) => path)).toEqual(['metadata.name']);
  });
});
