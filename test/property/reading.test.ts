import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { identifyObject } from '../../src/core/resources/parse.ts';
import { applyDefaults, examine, isKindName } from '../../src/core/schema/index.ts';
import { standardPolicy } from '../support/evaluation.ts';
import { damaged } from './damage.ts';
import { kubernetesObject } from './world.ts';

const { bundle } = standardPolicy;

/**
 * How an object reads by its table once defaults are filled in, and by its schema where that found nothing to leave out. If the bundle
 * drops unknown fields, readers get the object without them.
 */
function bothReadings(object: unknown): { readonly read: unknown; readonly adopted: unknown } | undefined {
  const kind: unknown = (object as { kind?: unknown } | null)?.kind;
  const json = typeof kind === 'string' && isKindName(kind) ? applyDefaults(kind, object, bundle) : object;
  const identified = identifyObject(json);
  if (identified.type !== 'resource') return undefined;
  const written = { kind: identified.kind, apiVersion: identified.apiVersion, json };
  const { stored, settled, problems, isWhole } = examine(written, bundle);
  return isWhole && typeof stored === 'object'
    ? { read: identified.read(problems.length === 0 ? json : settled), adopted: identified.adopt(stored) }
    : undefined;
}

describe('an object that is as its schema says', () => {
  test('reads the same, whoever reads it', () => {
    let whole = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          kubernetesObject,
          damaged(kubernetesObject).map(({ damage }) => damage),
        ),
        (json) => {
          const readings = bothReadings(json);
          if (readings === undefined) return;
          whole += 1;
          expect(readings.adopted).toEqual(readings.read);
        },
      ),
      { numRuns: 500 },
    );
    expect(whole).toBeGreaterThan(0);
  });
});
