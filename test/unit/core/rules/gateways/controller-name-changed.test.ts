import { describe, expect, test } from '@jest/globals';
import { judgeChange } from '../../../../../src/core/rules/official/changes.ts';
import { evaluate } from '../../../../support/evaluation.ts';
import { objectOf } from '../../../../support/rules.ts';
import { decide, requestOf } from '../../admission/requests.ts';

const classOf = (controllerName: unknown): object => objectOf('GatewayClass', 'v1', { controllerName }) as object;

describe('controller-name-changed', () => {
  test('names the old one', () => {
    expect(judgeChange('GatewayClass', classOf('example.com/a'), classOf('example.com/b'))).toEqual([
      {
        rule: 'controller-name-changed',
        path: ['spec', 'controllerName'],
        value: 'example.com/b',
        message:
          'controllerName is immutable: it was "example.com/a". Create another GatewayClass with the new controllerName, and refer to that one.',
      },
    ]);
    expect(judgeChange('XMesh', classOf('example.com/a'), classOf('example.com/b'))).toHaveLength(1);
  });

  test.each<[unknown, unknown]>([
    ['example.com/a', 'example.com/a'],
    [undefined, 'example.com/a'],
    ['example.com/a', undefined],
    [1, 2],
    [null, 'example.com/a'],
  ])('%j to %j is nothing of this kind', (before, after) => {
    expect(judgeChange('GatewayClass', classOf(before), classOf(after))).toEqual([]);
  });

  test('other kinds have no such field, and no JSON is too odd', () => {
    expect(judgeChange('Gateway', classOf('example.com/a'), classOf('example.com/b'))).toEqual([]);
    expect(judgeChange('GatewayClass', null, [])).toEqual([]);
  });

  test('is denied on UPDATE, and only there', () => {
    const world = evaluate([]);
    const [before, after] = [classOf('example.com/a'), classOf('example.com/b')];
    expect(decide(world, requestOf({ object: after }))).toHaveProperty('allowed', true);
    expect(decide(world, requestOf({ oldObject: before, object: after }))).toMatchObject({
      allowed: false,
      causes: [{ field: 'spec.controllerName' }],
      auditAnnotations: { denied: 'controller-name-changed' },
    });
    expect(
      decide(world, requestOf({ oldObject: before, object: after }), { policy: { profile: 'audit' } }),
    ).toMatchObject({ allowed: true, auditAnnotations: { 'would-deny': 'controller-name-changed' } });
  });
});
