import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks, soundRoute } from '../../../../support/rules.ts';

const object = (metadata: object): unknown => ({ ...(soundRoute() as object), metadata: { name: 'cart', namespace: 'shop', ...metadata } });
const key = 'is no valid key. Write up to 63 letters, digits, -, _ and ., with a domain before it if you like: team or example.com/team.';

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
    [{ name: 'My_Cart' }, 'metadata.name', '"My_Cart" is no name that Kubernetes takes. Write "my-cart".'],
    [{ name: '-' }, 'metadata.name', '"-" is no name that Kubernetes takes. Write at most 253 lower-case letters, digits, -, . and nothing else, with a letter or digit at both ends.'],
    [{ namespace: 'shop.eu' }, 'metadata.namespace', '"shop.eu" is no namespace that Kubernetes takes. Write at most 63 lower-case letters, digits, - and nothing else, with a letter or digit at both ends.'],
    [{ namespace: 'Shop' }, 'metadata.namespace', '"Shop" is no namespace that Kubernetes takes. Write "shop".'],
    [{ labels: { 'team/': 'shop' } }, 'metadata.labels["team/"]', `"team/" ${key}`],
    [{ labels: { 'Example.com/team': 'shop' } }, 'metadata.labels["Example.com/team"]', `"Example.com/team" ${key}`],
    [{ annotations: { 'a/b/c': '' } }, 'metadata.annotations["a/b/c"]', `"a/b/c" ${key}`],
    [{ labels: { version: 1.5 } }, 'metadata.labels.version', 'The value of "version" has to be text. Write it in quotes: "1.5".'],
    [{ annotations: { enabled: true } }, 'metadata.annotations.enabled', 'The value of "enabled" has to be text. Write it in quotes: "true".'],
    [{ annotations: { list: [] } }, 'metadata.annotations.list', 'The value of "list" has to be text, not a list. Write it in quotes.'],
    [{ labels: { odd: { toString: 1, valueOf: 1 } } }, 'metadata.labels.odd', 'The value of "odd" has to be text, not an object. Write it in quotes.'],
    [{ labels: { team: 'the shop' } }, 'metadata.labels.team', '"the shop" is no value of a label. Write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends; longer texts belong into annotations.'],
  ])('%j', (metadata, path, message) => {
    expect(remarks('metadata-syntax', object(metadata))).toEqual([[path, message]]);
  });

  test('in kinds without other rules, too', () => {
    const mesh = { ...(objectOf('XMesh', 'v1alpha1', { controllerName: 'example.com/mesh' }) as object), metadata: { name: 'Mesh' } };
    expect(remarks('metadata-syntax', mesh).map(([path]) => path)).toEqual(['metadata.name']);
  });
});
