import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('qualified-key', () => {
  const gatewayWith = (key: string): unknown =>
    objectOf('Gateway', 'v1', { infrastructure: { labels: { [key]: 'a' }, annotations: { [key]: 'a' } } });
  const backendWith = (key: string): unknown =>
    objectOf('XBackend', 'v1alpha1', { endpointSelector: { matchLabels: { [key]: 'a' } } });
  const long = 'a'.repeat(63);
  const domain = (length: number): string => `${'a.'.repeat(length).slice(0, length - 1)}b`;

  test.each(['team', 'a', 'example.com/team', 'A_b.C-1', long, `example.com/${long}`, `${domain(252)}/a`])(
    '%s is fine',
    (key) => {
      expect([...refusals('qualified-key', gatewayWith(key)), ...refusals('qualified-key', backendWith(key))]).toEqual(
        [],
      );
    },
  );

  test.each(['', '/a', 'a/', 'a/b/c', 'Example.com/a', '-a', 'a b', `${long}a`, `${domain(254)}/a`])(
    '%s is none',
    (key) => {
      expect(refusals('qualified-key', gatewayWith(key))).toHaveLength(2);
      expect(refusals('qualified-key', backendWith(key))).toHaveLength(1);
    },
  );

  test('a domain of 253 characters is too long for infrastructure alone', () => {
    expect(refusals('qualified-key', gatewayWith(`${domain(253)}/a`))).toHaveLength(2);
    expect(refusals('qualified-key', backendWith(`${domain(253)}/a`))).toEqual([]);
  });

  test('says how keys look', () => {
    expect(refusals('qualified-key', gatewayWith('a b'))).toEqual(
      ['labels', 'annotations'].map((field) => [
        `spec.infrastructure.${field}["a b"]`,
        'Invalid key "a b". Use up to 63 letters, digits, "-", "_" and ".", with an optional domain prefix, for example team or example.com/team.',
      ]),
    );
  });

  test('came after the field', () => {
    expect(refusingBundles('qualified-key', gatewayWith('a b'))).toEqual(['standard 1.2–1.7', 'experimental 1.2–1.7']);
    expect(refusingBundles('qualified-key', backendWith('a b'))).toEqual(['experimental 1.7–1.7']);
  });
});
