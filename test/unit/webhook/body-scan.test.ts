import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { runToEnd } from '../../../src/core/text/steps.ts';
import { maxBytes, maxHeadWeight, maxNames, maxWeight } from '../../../src/webhook/body-scan.ts';
import { readReview, type ReadReview } from '../../../src/webhook/review.ts';
import { admissionReview, bodyOf } from '../../support/webhook.ts';

function read(text: string, chunk?: number): ReadReview {
  return runToEnd(readReview(bodyOf(text, chunk), 1000));
}

describe('a body in chunks', () => {
  test('reads as JSON.parse reads it, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.integer({ min: 1, max: 64 }), (object, oldObject, chunk) => {
        const text = JSON.stringify(admissionReview({ object, oldObject }));
        const { request } = JSON.parse(text) as { request: { object: unknown; oldObject: unknown } };
        expect(read(text, chunk)).toMatchObject({ type: 'request', request: { uid: 'b7a1c5e2' } });
        const result = read(text, chunk);
        if (result.type === 'request')
          expect([result.request.object, result.request.oldObject]).toEqual([
            request.object ?? undefined,
            request.oldObject ?? undefined,
          ]);
      }),
    );
  });

  test.each(['\\', '\\"', '"object":', '{', '}],', 'é😀'])('takes %j in a text for text', (part) => {
    const object = { metadata: { name: part, [part]: part } };
    for (const chunk of [1, 2, 3, 7])
      expect(read(JSON.stringify(admissionReview({ object })), chunk)).toMatchObject({ request: { object } });
  });

  test('spaces and the order of fields mean nothing', () => {
    const { request, ...rest } = admissionReview();
    const { object, ...others } = request;
    expect(read(JSON.stringify({ request: { object, ...others }, ...rest }, null, 2), 5)).toMatchObject({
      type: 'request',
      request: { object },
    });
  });

  test('names are not taken for others that only look like them', () => {
    const text = JSON.stringify({ ...admissionReview(), object: 1, other: { object: [1] } });
    expect(read(text)).toMatchObject({ type: 'request', request: { object: { kind: 'HTTPRoute' } } });
  });
});

const review = (object: string): string => JSON.stringify(admissionReview({ object: '#' })).replace('"#"', object);

describe('what takes too long to be read', () => {
  test.each([
    [
      'items',
      `[${Array(maxWeight + 2)
        .fill('1')
        .join(',')}]`,
    ],
    [
      'objects',
      `[${Array(maxWeight / 4 + 1)
        .fill('{}')
        .join(',')}]`,
    ],
    ['nested lists', `${'['.repeat(maxWeight / 3 + 1)}${']'.repeat(maxWeight / 3 + 1)}`],
    ['names', `{${Array.from({ length: maxNames * 1.3 }, (_, index) => `"k${index}":""`).join(',')}}`],
  ])('an object of %s is not read, and everything around it is', (_, object) => {
    const result = read(review(object));
    expect(result).toMatchObject({
      type: 'request',
      request: { uid: 'b7a1c5e2', kind: 'HTTPRoute', unread: expect.stringContaining('40,000 different field names') },
    });
    expect(result).toHaveProperty('request.object', undefined);
  });

  test('a text is read as long as the object has no more bytes than a request to an API server', () => {
    expect(read(review(`"${'x'.repeat(maxBytes - 2)}"`))).not.toHaveProperty('request.unread');
    expect(read(review(`"${'x'.repeat(maxBytes - 1)}"`))).toMatchObject({
      request: { unread: expect.stringContaining('more than 3 MiB') },
    });
  });

  test('an old object is left out', () => {
    const text = JSON.stringify(admissionReview({ operation: 'UPDATE', oldObject: '#' })).replace(
      '"#"',
      `[${Array(maxWeight + 2)
        .fill('1')
        .join(',')}]`,
    );
    const result = read(text);
    expect(result).toMatchObject({ type: 'request', request: { operation: 'UPDATE', object: { kind: 'HTTPRoute' } } });
    expect(result).not.toHaveProperty('request.unread');
    expect(result).toHaveProperty('request.oldObject', undefined);
  });

  test('a review is malformed where it is too large beside its objects, where it ends in one, or has one twice', () => {
    const [many, groups] = [maxWeight, maxHeadWeight].map(
      (count) =>
        `[${Array(count + 2)
          .fill('1')
          .join(',')}]`,
    ) as [string, string];
    expect(read(JSON.stringify(admissionReview({ userInfo: '#' })).replace('"#"', groups))).toEqual({
      type: 'malformed',
      problem: expect.stringContaining('more values than the limit of an AdmissionReview'),
    });
    expect(read(review(many.replace('[', `[${'1,'.repeat(100)}`)).slice(0, -60))).toEqual({
      type: 'malformed',
      problem: expect.stringContaining('more values'),
    });
    expect(read(review('1,"object":2'))).toEqual({
      type: 'malformed',
      problem: expect.stringContaining('request.object twice'),
    });
  });
});
