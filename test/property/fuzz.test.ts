import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { caseOf, tryCase } from '../fuzz/cases.ts';
import { createSubject, type Subject } from '../fuzz/subject.ts';
import { failureOf, type Failure } from '../fuzz/totals.ts';

// A small part of `make fuzz`, always the same.

let subject: Subject;

beforeAll(async () => {
  subject = await createSubject();
});

afterAll(() => subject.close());

describe('fuzzed objects', () => {
  test('go through parsing, judgement, status, routing and the webhook without a throw', async () => {
    const failures: Failure[] = [];
    for (let number = 0; number < 1_500; number++) {
      const { error } = await tryCase(subject, caseOf(1, number));
      if (error !== undefined) failures.push(failureOf(number, error));
    }
    expect(failures).toEqual([]);
  }, 120_000);

  test('the same seed and number make the same case', () => {
    expect(caseOf(1, 77)).toEqual(caseOf(1, 77));
    expect(caseOf(1, 77)).not.toEqual(caseOf(1, 78));
    expect(caseOf(1, 77)).not.toEqual(caseOf(2, 77));
  });
});

describe('the subject of fuzzing', () => {
  const bundle = { minor: '1.7', channel: 'standard' } as const;

  test('tells what throws', async () => {
    await expect(subject.try(['no JSON'], bundle)).rejects.toThrow(SyntaxError);
  });

  test('leaves no trace', async () => {
    const route = JSON.stringify({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'ours' },
      spec: { controllerName: 'example.net/other' },
    });
    const before = subject.statuses();
    await subject.try([route], bundle);
    expect(subject.statuses()).toEqual(before);
    expect(before).toContain('Gateway/infra/web');
  });
});
