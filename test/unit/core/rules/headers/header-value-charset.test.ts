import { describe, expect, test } from '@jest/globals';
import { grpcRouteWith, remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);
const bundle = { minor: '1.7', channel: 'standard' } as const;

describe('header-value-charset', () => {
  test.each<[object]>([
    [{ filters: [ { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [ { name: 'x-team', value: 'K%C3%A4se' } ] } } ] }],
    [{ filters: [ { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [ { name: 'x-team', value: 'one two' } ] } } ] }],
  ])('%j is fine', (value) => {
    expect(remarks('header-value-charset', object(value), bundle)).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ filters: [ { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [ { name: 'x-team', value: 'Käse' } ] } } ] }, [ 'spec.rules[0].filters[0].requestHeaderModifier.set[0].value', 'The header value "Käse" holds "ä", which is no printable ASCII character; the experimental channel refuses such values. Encode it, e.g. percent-encoded or in base64.' ]],
    [{ filters: [ { type: 'RequestHeaderModifier', requestHeaderModifier: { add: [ { name: 'x-team', value: ' shop  one ' } ] } } ] }, [ 'spec.rules[0].filters[0].requestHeaderModifier.add[0].value', 'The header value " shop  one " has blanks at an end or in a row; the experimental channel refuses such values. Write "shop one".' ]],
    [{ matches: [ { headers: [ { name: 'x-team', value: 'a ' } ] } ] }, [ 'spec.rules[0].matches[0].headers[0].value', 'The header value "a " has blanks at an end or in a row; the experimental channel refuses such values. Write "a".' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('header-value-charset', object(value), bundle)).toEqual(expected);
  });

  test('in a filter of a GRPCRoute, but not in what it matches', () => {
    const odd = [{ name: 'x-team', value: 'Käse' }];
    const route = grpcRouteWith({ matches: [{ headers: odd }], filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { add: odd } }] });
    expect(remarks('header-value-charset', route, bundle).map(([path]) => path)).toEqual(['spec.rules[0].filters[0].responseHeaderModifier.add[0].value']);
    expect(remarks('header-value-charset', route)).toEqual([]);
  });
});
