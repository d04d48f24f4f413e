import { describe, expect, test } from '@jest/globals';
import type { AdmissionPolicy } from '../../../../src/core/admission/policy.ts';
import type { AdmissionVerdict } from '../../../../src/core/admission/types.ts';
import { allRules } from '../../../../src/core/rules/engine/registry.ts';
import type { Rule } from '../../../../src/core/rules/engine/rule.ts';
import { controllerNameChanged } from '../../../../src/core/rules/gateways/controller-name-changed.ts';
import { pathNotPermitted } from '../../../../src/core/rules/matches/path-not-permitted.ts';
import { hostnameNotPermitted } from '../../../../src/core/rules/parents/hostname-not-permitted.ts';
import { channels, isSchemaKind, minors, type Bundle } from '../../../../src/core/schema/index.ts';
import { evaluate } from '../../../support/evaluation.ts';
import { examples, rulePage, section } from '../../../support/rule-pages.ts';
import { decide, platform, requestOf } from './requests.ts';

// Every rule that denies in some profile, by the examples of its page: what was stored before it came must stay
// manageable, in whatever kind. Rules about changes alone have nothing that could have been stored before.

interface KubernetesObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Newest first. */
const bundles = minors
  .toReversed()
  .flatMap((minor) => channels.toReversed().map((channel): Bundle => ({ minor, channel })));
const world = evaluate(platform);
/** The only rules that deny because of other objects. They are in the examples of their pages. */
const worlds = new Map(
  [hostnameNotPermitted.id, pathNotPermitted.id].map((rule) => [
    rule,
    evaluate([...platform, ...objectsOf(rule, 'Wrong')]),
  ]),
);
const denying = allRules.filter(
  ({ id, effect }) => (effect.standard === 'deny' || effect.strict === 'deny') && id !== controllerNameChanged.id,
);

function verdictOn(
  write: { readonly object: object; readonly oldObject?: object },
  policy: Partial<AdmissionPolicy>,
  rule: string,
): AdmissionVerdict {
  return decide(worlds.get(rule) ?? world, requestOf(write), { policy });
}

function isDenied(rule: string, object: object, policy: Partial<AdmissionPolicy>): boolean {
  return (verdictOn({ object }, policy, rule).auditAnnotations['denied'] ?? '').split(',').includes(rule);
}

interface Case {
  readonly wrong: KubernetesObject;
  readonly right: KubernetesObject;
  readonly policy: Partial<AdmissionPolicy>;
}

/** The examples that the rule denies, each under the mildest profile and in the newest bundle in which it does. */
function casesOf({ id, effect }: Rule): readonly Case[] {
  const profile = effect.standard === 'deny' ? 'standard' : 'strict';
  const right = objectsOf(id, 'Right');
  return objectsOf(id, 'Wrong').flatMap((wrong) => {
    const bundle = bundles.find((candidate) => isDenied(id, wrong, { profile, bundle: candidate }));
    const counterpart = right.find(({ kind }) => kind === wrong.kind);
    return bundle === undefined || counterpart === undefined
      ? []
      : [{ wrong, right: counterpart, policy: { profile, bundle } }];
  });
}

function objectsOf(id: string, heading: 'Right' | 'Wrong'): readonly KubernetesObject[] {
  return (examples(section(rulePage(id), heading)) as readonly KubernetesObject[]).filter(({ kind }) =>
    isSchemaKind(kind),
  );
}

/** With a change of something that the examples are not about: another item of a list that the kind has. */
function changedElsewhere({ kind, spec, ...rest }: KubernetesObject): object {
  const [list, item] = extras.find(([kinds]) => kinds.test(kind))?.[1] ?? [];
  if (list !== undefined)
    return { ...rest, kind, spec: { ...spec, [list]: [...((spec[list] ?? []) as unknown[]), item] } };
  return {
    ...rest,
    kind,
    spec: {
      ...spec,
      port: Object.fromEntries(
        Object.entries(spec['port'] as object).map(([field, value]) => [
          field,
          typeof value === 'number' ? value + 1 : value,
        ]),
      ),
    },
  };
}

const extras: readonly (readonly [kinds: RegExp, item: readonly [list: string, item: unknown]])[] = [
  [/^(?:TCP|UDP)Route$/, ['parentRefs', { name: 'another-one' }]],
  // Another parent could be somebody else's, and rules about our dialect would deny no more.
  [/Route$/, ['hostnames', 'another-one.example.com']],
  [/^(?:Gateway|X?ListenerSet)$/, ['listeners', { name: 'another-one', port: 9999, protocol: 'HTTP' }]],
  [/^XTelemetryPolicy$/, ['targetRefs', { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'another-one' }]],
  [/Policy$/, ['targetRefs', { group: '', kind: 'Service', name: 'another-one' }]],
];

describe.each(denying.map((rule) => [rule.id, casesOf(rule)] as const))('%s', (id, cases) => {
  test('has an example that is denied when it is new, and one of the same kind that is right', () => {
    expect(cases).not.toEqual([]);
  });

  test('is tolerated when it was there before', () => {
    for (const { wrong, policy } of cases) {
      const labelled = { ...wrong, metadata: { ...wrong.metadata, labels: { team: 'shop' } } };
      expect(verdictOn({ oldObject: wrong, object: labelled }, policy, id)).toHaveProperty('allowed', true);
      const verdict = verdictOn({ oldObject: wrong, object: changedElsewhere(wrong) }, policy, id);
      expect(verdict.auditAnnotations).toMatchObject({ tolerated: expect.stringContaining(id) });
      expect(verdict.auditAnnotations['denied'] ?? '').not.toContain(id);
    }
  });

  test('is denied when the old object was right', () => {
    for (const { wrong, right, policy } of cases) {
      expect(verdictOn({ oldObject: right, object: wrong }, policy, id).auditAnnotations).toMatchObject({
        denied: expect.stringContaining(id),
      });
    }
  });
});
