import { describe, expect, test } from '@jest/globals';
import { grpcMethodMatch } from '../../../../../src/core/rules/matches/grpc-method-match.ts';
import { consequences, judge, objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('grpc-method-match', () => {
  const routeWith = (method: object): unknown => objectOf('GRPCRoute', 'v1', { rules: [{ matches: [{ method }] }] });
  const path = 'spec.rules[0].matches[0].method';

  test.each([
    [{ service: 'shop.v1.Cart' }],
    [{ service: '.shop.Cart', method: 'AddItem' }],
    [{ method: '_add_2' }],
    [{ type: 'RegularExpression', service: 'shop.*' }],
    [{ service: '\u212Aart' }],
  ])('%j is fine', (method) => {
    expect(refusals('grpc-method-match', routeWith(method))).toEqual([]);
  });

  test.each<[object, string, string]>([
    [
      {},
      path,
      'The method match has neither service nor method, so it matches nothing. Set at least one of them, or remove method from the match to match every call.',
    ],
    [
      { type: 'RegularExpression' },
      path,
      'The method match has neither service nor method, so it matches nothing. Set at least one of them, or remove method from the match to match every call.',
    ],
    [
      { service: 'shop..Cart' },
      `${path}.service`,
      'Invalid gRPC service "shop..Cart": the match matches nothing. Use names of letters, digits and "_", separated by dots, for example shop.v1.Cart, or use type: RegularExpression.',
    ],
    [
      { service: '' },
      path,
      'The method match has neither service nor method, so it matches nothing. Set at least one of them, or remove method from the match to match every call.',
    ],
    [
      { method: 'add-item' },
      `${path}.method`,
      'Invalid gRPC method "add-item": the match matches nothing. Use a name of letters, digits and "_", for example AddItem, or use type: RegularExpression.',
    ],
    [
      { method: 'Add\n' },
      `${path}.method`,
      'Invalid gRPC method "Add\\n": the match matches nothing. Use a name of letters, digits and "_", for example AddItem, or use type: RegularExpression.',
    ],
  ])('%j', (method, at, message) => {
    expect(refusals('grpc-method-match', routeWith(method))).toEqual([[at, message]]);
  });

  test.each<[object, string, string]>([
    [
      { type: 'RegularExpression', service: '', method: '' },
      path,
      'The method match has neither service nor method, so it matches nothing. Set at least one of them, or remove method from the match to match every call.',
    ],
    [
      { service: 'shop', method: 'Add/All' },
      `${path}.method`,
      'Invalid gRPC method "Add/All": the match matches nothing. Use a name of letters, digits and "_", for example AddItem, or use type: RegularExpression.',
    ],
  ])('whatever the bundle: %j', (method, at, message) => {
    expect(judge(grpcMethodMatch, routeWith(method))).toEqual([[at, message]]);
    expect(consequences(grpcMethodMatch, routeWith(method))).toEqual(['Accepted UnsupportedValue match']);
  });

  test('what could not be read is the concern of another rule', () => {
    expect(judge(grpcMethodMatch, routeWith({ service: 1 }))).toEqual([]);
  });

  test('is as old as the kind', () => {
    expect(refusingBundles('grpc-method-match', routeWith({}))).toEqual(['standard 1.1–1.7', 'experimental 1.1–1.7']);
    expect(
      refusingBundles(
        'grpc-method-match',
        objectOf('GRPCRoute', 'v1alpha2', { rules: [{ matches: [{ method: {} }] }] }),
      ),
    ).toEqual(['standard 1.1–1.1', 'experimental 1.0–1.1']);
  });
});
