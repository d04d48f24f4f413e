import { describe, expect, test } from '@jest/globals';
import { namespaceLabels } from '../../../../src/core/graph/namespaces.ts';
import { evaluate } from '../../../support/evaluation.ts';

const namespace = (labels: object): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', labels },
});
const labelsOf = (...objects: readonly object[]) => evaluate(objects).kernel.read.query(namespaceLabels, 'shop');

describe('the labels of a namespace', () => {
  test('include the name, also without a Namespace object', () => {
    expect(labelsOf()).toEqual({ 'kubernetes.io/metadata.name': 'shop' });
    expect(labelsOf(namespace({ team: 'a' }))).toEqual({ team: 'a', 'kubernetes.io/metadata.name': 'shop' });
  });

  test('cannot claim the name of another namespace', () => {
    expect(labelsOf(namespace({ 'kubernetes.io/metadata.name': 'billing' }))).toEqual({
      'kubernetes.io/metadata.name': 'shop',
    });
  });
});
