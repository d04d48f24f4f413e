import { describe, expect, test } from '@jest/globals';
import { disagreement, refusalOf } from './compare.ts';
import { formatPath, type Path } from '../../src/core/resources/path.ts';
import type { Reason } from './subject.ts';

const cause = (field: string, message = 'Invalid value: no') => ({ reason: 'FieldValueInvalid', field, message });

function refusalAt(...causes: readonly ReturnType<typeof cause>[]) {
  return refusalOf({ type: 'invalid', message: 'refused', causes });
}

function reasonAt(path: Path, from: Reason['from']): Reason {
  return { path, field: formatPath(path), message: 'ours', from, rule: from };
}

const schema = (...path: Path): Reason => reasonAt(path, 'schema');
const rule = (...path: Path): Reason => reasonAt(path, 'rule');

describe('refusalOf', () => {
  test('an object that was taken has none', () => {
    expect(refusalOf({ type: 'ok' })).toBeUndefined();
  });

  test('an answer without verdict is none', () => {
    expect(() => refusalOf({ type: 'unavailable', message: 'busy' })).toThrow('busy');
    expect(() => refusalOf({ type: 'invalid', message: 'no JSON', causes: [] })).toThrow('no JSON');
  });

  test('reads fields, those that only the message names, and lists with repetitions', () => {
    const nameless = cause(
      '<nil>',
      'Invalid value: "": "spec.addresses[0]" must validate one and only one schema (oneOf). Found none valid',
    );
    const unnamed = cause(
      '<nil>',
      'Invalid value: "": Checked value must be of type integer with format int32 in spec.port',
    );
    expect(
      refusalAt(cause('spec.rules'), nameless, unnamed, cause('spec.listeners[1]', 'Duplicate value: {"name":"a"}')),
    ).toEqual({
      fields: ['spec.rules', 'spec.addresses[0]', 'spec.port', 'spec.listeners'],
      rulesSkipped: false,
      message: 'refused',
    });
  });

  test('knows when rules were not looked at', () => {
    const skipped = cause(
      '<nil>',
      'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    );
    expect(refusalAt(cause('spec.rules'), skipped)).toMatchObject({ fields: ['spec.rules'], rulesSkipped: true });
  });
});

describe('disagreement', () => {
  test.each([
    [[], undefined],
    [[rule('spec', 'rules', 0, 'name')], refusalAt(cause('spec.rules'))],
    [[schema('spec', 'a', 'b')], refusalAt(cause('spec.a.b'))],
    [[schema('spec', 'a')], refusalAt(cause('spec.a.b'))],
    [[schema('spec', 'labels', 'a b')], refusalAt(cause('spec.labels.a b'))],
    [
      [schema('spec', 'a'), rule('spec', 'b')],
      refusalAt(cause('spec.a'), cause('<nil>', 'some validation rules were not checked')),
    ],
  ])('there is none between %j and %j', (reasons, refusal) => {
    expect(disagreement(reasons, refusal)).toBeUndefined();
  });

  test.each<[readonly Reason[], ReturnType<typeof refusalAt>, string]>([
    [[rule('spec', 'a')], undefined, 'taken, but we refuse spec.a: ours'],
    [[], refusalAt(cause('spec.a')), 'refused, but we find nothing: refused'],
    [[rule('spec', 'a')], refusalAt(cause('spec.a'), cause('spec.b')), 'refused at spec.b, where we find nothing'],
    [
      [rule('spec', 'rules', 1)],
      refusalAt(cause('spec.rules[10]')),
      'refused at spec.rules[10], where we find nothing',
    ],
    [[rule('spec', 'a'), rule('spec', 'b')], refusalAt(cause('spec.a')), 'refused, but not at spec.b: ours'],
    [[rule('spec', 'ab')], refusalAt(cause('spec.a')), 'refused at spec.a, where we find nothing'],
  ])('there is one between %j and %j', (reasons, refusal, words) => {
    expect(disagreement(reasons, refusal)).toContain(words);
  });
});
