import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { WireObject } from '../../src/controller/index.ts';
import { statusEvents } from '../../src/controller/status-events.ts';
import { mergeStatus } from '../../src/controller/merge-status.ts';
import type { Condition } from '../../src/core/status/conditions.ts';
import type { OwnStatus } from '../../src/core/status/emit.ts';
import { damaged } from './damage.ts';

// Somebody else's hand, an old controller's, or nobody's: a live status may be anything.

const controllerName = 'sallyport.dev/gateway-controller';
const context = { controllerName, now: '2026-02-02T00:00:00Z' };
const ref = { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'shop', name: 'front' };
const accepted: readonly Condition[] = [
  { type: 'Accepted', status: 'True', reason: 'Accepted', message: '', observedGeneration: 2 },
];
const wire = accepted.map((condition) => ({ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }));
const foreign = {
  controllerName: 'example.net/other',
  parentRef: { name: 'side' },
  ancestorRef: { name: 'side' },
  conditions: wire,
};

const statuses: readonly (readonly [ours: OwnStatus, live: unknown])[] = [
  [
    { parents: [{ parentRef: ref, controllerName, conditions: accepted }] },
    { parents: [foreign, { parentRef: { name: 'front' }, controllerName, conditions: wire }] },
  ],
  [
    { ancestors: [{ ancestorRef: ref, controllerName, conditions: accepted }] },
    { ancestors: [{ ancestorRef: ref, controllerName, conditions: wire }, foreign] },
  ],
  [
    {
      addresses: [],
      conditions: accepted,
      listeners: [{ name: 'web', supportedKinds: [], attachedRoutes: 1, conditions: accepted }],
    },
    {
      conditions: wire,
      listeners: [
        { name: 'web', conditions: wire },
        { name: 'gone', conditions: wire },
      ],
    },
  ],
  [{ conditions: accepted }, { conditions: wire, supportedFeatures: [{ name: 'Gateway' }] }],
];

const merges = fc
  .constantFrom(...statuses)
  .chain(([ours, live]) => damaged(fc.constant(live)).map(({ damage }) => ({ ours, live: damage })));

function liveObject(status: unknown): WireObject {
  return { metadata: { namespace: 'shop', name: 'thing', generation: 2 }, status };
}

describe('a status merged into any other', () => {
  test('throws nothing, is as it must be the second time, and can be told of', () => {
    fc.assert(
      fc.property(merges, fc.boolean(), ({ ours, live }, isOurs) => {
        const wanted = isOurs ? ours : undefined;
        const merged = mergeStatus(liveObject(live), wanted, context);
        if (merged === 'same') return;
        expect(statusEvents('HTTPRoute', liveObject(live), merged, controllerName)).toBeInstanceOf(Array);
        expect(mergeStatus(liveObject(merged), wanted, context)).toBe('same');
      }),
      { numRuns: 1_000 },
    );
  });
});
