import { describe, expect, test } from '@jest/globals';
import { createLoneJudge } from '../../../../src/core/admission/judge-alone.ts';
import { candidateOf as parsedCandidate } from '../../../../src/core/admission/candidate.ts';
import { createEvaluation } from '../../../../src/core/evaluation.ts';
import { identifyObject } from '../../../../src/core/resources/parse.ts';
import type { Bundle } from '../../../../src/core/schema/index.ts';
import { installation, standardPolicy } from '../../../support/evaluation.ts';

// Validation applies to the object as the bundle's API server stores it: after unknown fields are dropped.

const old: Bundle = { minor: '1.0', channel: 'standard' };
const newest: Bundle = { minor: '1.7', channel: 'standard' };

function route(spec: object): object {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { parentRefs: [{ name: 'front' }], ...spec },
  };
}

function judged(json: object, bundle: Bundle): readonly (readonly [string, string, string])[] {
  const identified = identifyObject(json);
  if (identified.type !== 'resource') throw new Error('no object');
  const judge = createLoneJudge(createEvaluation([]), installation, { ...standardPolicy, bundle });
  return judge(parsedCandidate(identified, json, bundle)).map(({ rule, effect, path }) => [
    rule,
    effect,
    path.join('.'),
  ]);
}

const backendRefs = [{ name: 'cart', port: 80 }];

describe('fields that the bundle does not have', () => {
  test('tell no parentRefs apart', () => {
    const json = route({
      parentRefs: [
        { name: 'front', port: 80 },
        { name: 'front', port: 81 },
      ],
      rules: [{ backendRefs }],
    });
    expect(judged(json, old)).toContainEqual(['parent-repeated', 'deny', 'spec.parentRefs.1']);
  });

  test('hide no finding about the object around them', () => {
    const json = route({
      rules: [
        {
          unknown: true,
          filters: [{ type: 'RequestRedirect', requestRedirect: { statusCode: 302, port: 81 } }],
          backendRefs,
        },
      ],
    });
    const known = route({
      rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { statusCode: 302, port: 81 } }], backendRefs }],
    });
    const expected = judged(known, newest);
    expect(expected.some(([, effect]) => effect === 'deny')).toBe(true);
    expect(judged(json, newest)).toEqual([['schema-unknown-field', 'warn', 'spec.rules.0.unknown'], ...expected]);
  });

  test('have no other finding than that they are dropped', () => {
    const json = route({ rules: [{ retry: { attempts: -1, codes: [7], backoff: '1.5s' }, backendRefs }] });
    expect(judged(json, old).filter(([, , path]) => path.startsWith('spec.rules.0.retry'))).toEqual([
      ['schema-unknown-field', 'warn', 'spec.rules.0.retry'],
    ]);
  });
});
