import { describe, expect, test } from '@jest/globals';
import { judge, judgeUnevaluated } from '../../src/core/admission/judge.ts';
import { readDocument } from '../../src/core/admission/candidate.ts';
import { formatPath } from '../../src/core/resources/path.ts';
import type { Finding } from '../../src/core/rules/engine/rule.ts';
import { isSchemaKind, type Bundle } from '../../src/core/schema/index.ts';
import { examplesOf } from '../differential/examples.ts';
import { randomObject } from '../differential/objects.ts';
import { createRandom } from '../differential/random.ts';
import { subjectsOf } from '../differential/subject.ts';
import { emptyEvaluation, evaluate, serviceWith, writeOf } from '../support/evaluation.ts';
import { platform } from '../unit/core/admission/requests.ts';

// Rules that always find something together, at one place, are one rule too many.

const { kernel } = evaluate([...platform, serviceWith({ ports: [{ port: 80 }] }, 'cart', 'default')]);

function findingsIn(json: unknown, bundle: Bundle): readonly Finding[] {
  const policy = { profile: 'standard', overrides: {}, bundle } as const;
  const read = readDocument(json, bundle);
  if (read.type === 'unserved' && isSchemaKind(read.ref.kind))
    return judgeUnevaluated(emptyEvaluation().read, { kind: read.ref.kind, apiVersion: read.apiVersion, json }, policy);
  if (read.type !== 'candidate') return [];
  const { resource } = read.candidate;
  return judge(kernel.overlay([writeOf(resource.ref, resource)]).read, read.candidate, policy);
}

/** Of each rule, the sets of other rules that found something at the same place as it did. */
function companions(bundle: Bundle): ReadonlyMap<string, readonly ReadonlySet<string>[]> {
  const random = createRandom(1);
  const found = new Map<string, ReadonlySet<string>[]>();
  for (const subject of subjectsOf(bundle)) {
    for (const object of [...examplesOf(subject), ...Array.from({ length: 40 }, () => randomObject(subject, random))]) {
      for (const here of Map.groupBy(findingsIn(object, bundle), ({ path }) => formatPath(path)).values()) {
        const rules = new Set(here.map(({ rule }) => rule));
        for (const rule of rules)
          found.set(rule, [...(found.get(rule) ?? []), new Set([...rules].filter((other) => other !== rule))]);
      }
    }
  }
  return found;
}

describe('findings', () => {
  test.each<Bundle>([
    { minor: '1.7', channel: 'experimental' },
    { minor: '1.7', channel: 'standard' },
  ])('of no rule stand beside those of another one each time: %j', (bundle) => {
    const pairs = [...companions(bundle)].flatMap(([rule, sets]) =>
      [...(sets[0] ?? [])].filter((other) => sets.every((set) => set.has(other))).map((other) => `${rule}, ${other}`),
    );
    expect(pairs).toEqual([]);
  });
});
