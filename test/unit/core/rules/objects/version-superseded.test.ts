import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (version: string): unknown => ({
  ...(soundRoute() as object),
  apiVersion: `gateway.networking.k8s.io/${version}`,
});

describe('version-superseded', () => {
  test.each<[string]>([['v1']])('%j is fine', (value) => {
    expect(remarks('version-superseded', object(value))).toEqual([]);
  });

  test.each<[string, ...[path: string, message: string][]]>([
    [
      'v1beta1',
      [
        'apiVersion',
        'Deprecated version gateway.networking.k8s.io/v1beta1: it will be removed. Use gateway.networking.k8s.io/v1.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('version-superseded', object(value))).toEqual(expected);
  });
});
