import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { objectWrites } from '../../src/cluster/object-writes.ts';
import { decisionOf } from '../../src/core/admission/decide.ts';
import { findingCounts } from '../../src/core/admission/impact.ts';
import type { AdmissionRequest, AdmissionVerdict } from '../../src/core/admission/types.ts';
import type { Kernel, Write } from '../../src/core/incremental/index.ts';
import { identifyObject } from '../../src/core/resources/parse.ts';
import { runToEnd, type Steps } from '../../src/core/text/steps.ts';
import { EvaluationQueue } from '../../src/time/evaluation-queue.ts';
import { catchUp } from '../../src/webhook/catch-up.ts';
import { SharedSlices } from '../../src/webhook/turns.ts';
import { standardPolicy } from '../support/evaluation.ts';
import { webhookKernel } from '../support/webhook-kernel.ts';
import { requestOf } from '../unit/core/admission/requests.ts';
import { kubernetesObject } from './world.ts';

type Happening =
  | { readonly type: 'events'; readonly objects: readonly object[] }
  | { readonly type: 'review'; readonly object: object }
  | { readonly type: 'turns'; readonly count: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ type: fc.constant('events'), objects: fc.array(kubernetesObject, { minLength: 1, maxLength: 12 }) }),
  fc.record({ type: fc.constant('review'), object: kubernetesObject }),
  fc.record({ type: fc.constant('turns'), count: fc.integer({ min: 1, max: 12 }) }),
);

function writesOf(objects: readonly object[]): readonly Write[] {
  return objects.flatMap((json) => {
    const identified = identifyObject(json);
    return identified.type === 'resource' ? objectWrites(identified.ref, json) : [];
  });
}

const decided = (kernel: Kernel, request: AdmissionRequest): Steps<AdmissionVerdict> =>
  decisionOf(request, { kernel, policy: standardPolicy, mayContinue: () => true });

/** A clock by which each look takes some milliseconds, so that slices end after few steps. */
function hastyClock(milliseconds: number): () => number {
  let time = 0;
  return () => (time += milliseconds);
}

describe('events and reviews that arrive at random', () => {
  test('lead to the verdicts and the state of one after the other', async () => {
    let compared = 0;
    let waited = 0;
    const runs = fc.asyncProperty(
      fc.array(happening, { minLength: 2, maxLength: 16 }),
      fc.integer({ min: 1, max: 8 }),
      async (happenings, hurry) => {
        const kernel = webhookKernel();
        const evaluation = new EvaluationQueue(kernel, hastyClock(hurry));
        const slices = new SharedSlices(() => evaluation.readable, hastyClock(hurry));
        const catching = catchUp({ catchUp: () => undefined }, evaluation);
        const batches: (readonly Write[])[] = [];
        let applied = 0;
        const judged: { request: AdmissionRequest; verdict: AdmissionVerdict; state: number }[] = [];

        function* observed(request: AdmissionRequest, arrived: number): Steps<void> {
          const state = applied;
          expect(state).toBeGreaterThanOrEqual(arrived);
          const steps = decided(kernel, request);
          for (;;) {
            expect(evaluation.readable).toBeUndefined();
            const { done, value } = steps.next();
            if (done === true) {
              // A change between two steps may or may not be seen.
              if (applied === state) judged.push({ request, verdict: value, state });
              return;
            }
            yield;
          }
        }
        async function review(request: AdmissionRequest): Promise<void> {
          const arrived = batches.length;
          if (evaluation.readable !== undefined) waited += 1;
          await catching();
          await slices.run(observed(request, arrived), ['client']);
        }

        const reviews: Promise<void>[] = [];
        for (const one of happenings) {
          if (one.type === 'turns') {
            for (let turn = 0; turn < one.count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
          } else if (one.type === 'events') {
            const writes = writesOf(one.objects);
            batches.push(writes);
            void evaluation.apply(writes, () => (applied += 1));
          } else {
            reviews.push(review(requestOf({ object: one.object })));
          }
        }
        await Promise.all(reviews);
        await evaluation.applied;

        const model = webhookKernel();
        for (let state = 0; state <= batches.length; state += 1) {
          for (const { request, verdict } of judged.filter((one) => one.state === state)) {
            expect(verdict).toEqual(runToEnd(decided(model, request)));
            compared += 1;
          }
          model.apply(batches[state] ?? []);
        }
        expect(applied).toBe(batches.length);
        expect(kernel.emitted(findingCounts)).toEqual(model.emitted(findingCounts));
      },
    );
    await fc.assert(runs, { numRuns: 150 });
    expect(compared).toBeGreaterThan(100);
    expect(waited).toBeGreaterThan(20);
  });
});
