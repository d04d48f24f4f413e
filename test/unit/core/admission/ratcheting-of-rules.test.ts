import { describe, expect, test } from '@jest/globals';
import { registry, specificationRules } from '../../../../src/core/rules/registry.ts';
import { channels, isKindName, isSchemaKind, minors, type Bundle } from '../../../../src/core/schema/index.ts';
import { evaluate } from '../../../support/evaluation.ts';
import { examples, rulePage, section } from '../../../support/rule-pages.ts';
import { decide, requestOf } from './requests.ts';
import { refusedByRules } from '../../../support/schema.ts';

// Every rule that denies, by the examples of its page: what was stored before it came must stay manageable.

interface KubernetesObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

const bundles = minors.toReversed().flatMap((minor) => channels.toReversed().map((channel): Bundle => ({ minor, channel })));

/** The newest bundle that refuses an object by this rule; the newest of all for rules that do not depend on bundles. */
function bundleFor(rule: string, { kind, apiVersion, ...rest }: KubernetesObject): Bundle {
  const object = { kind, apiVersion, ...rest };
  const refusing = bundles.find((bundle) => isSchemaKind(kind) && refusedByRules(kind, apiVersion, object, bundle).some((finding) => finding.rule === rule));
  return refusing ?? { minor: '1.7', channel: 'experimental' };
}

const world = evaluate([]);
const denying = [...registry, ...specificationRules].filter(({ effect, about }) => effect.standard === 'deny' && about === undefined).map(({ id }) => id);
const cases = denying.flatMap((id) => exampleObjects(id, 'Wrong').map((wrong, index) => [id, index, wrong] as const));

/** Examples of kinds that admission judges. */
function exampleObjects(id: string, heading: 'Right' | 'Wrong'): readonly KubernetesObject[] {
  return (examples(section(rulePage(id), heading)) as readonly KubernetesObject[]).filter(({ kind }) => isKindName(kind));
}

/** With a change of something that the examples are not about. */
function changedElsewhere({ kind, spec, ...rest }: KubernetesObject): object {
  if (kind.endsWith('Route')) return { ...rest, kind, spec: { ...spec, parentRefs: [...(spec['parentRefs'] as object[] | undefined ?? []), { name: 'another-one' }] } };
  return { ...rest, kind, spec: { ...spec, ...(kind === 'Gateway' ? { gatewayClassName: 'another-one' } : { options: { 'example.com/note': 'new' } }) } };
}

describe.each(cases)('%s, example %i', (id, _index, wrong) => {
  const circumstances = { policy: { bundle: bundleFor(id, wrong) } };

  test('is denied when it is new', () => {
    const verdict = decide(world, requestOf({ object: wrong }), circumstances);
    expect(verdict).toMatchObject({ allowed: false, auditAnnotations: { denied: expect.stringContaining(id) } });
  });

  test('is tolerated when it was there before', () => {
    const labelled = { ...wrong, metadata: { ...(wrong as { metadata?: object }).metadata, labels: { team: 'shop' } } };
    expect(decide(world, requestOf({ oldObject: wrong, object: labelled }), circumstances)).toHaveProperty('allowed', true);
    const verdict = decide(world, requestOf({ oldObject: wrong, object: changedElsewhere(wrong) }), circumstances);
    expect(verdict).toMatchObject({ allowed: true, auditAnnotations: { tolerated: expect.stringContaining(id) } });
  });

  test('is denied when the old object was right', () => {
    const right = exampleObjects(id, 'Right').find(({ kind }) => kind === wrong.kind);
    if (right === undefined) throw new Error(`the page has no right ${wrong.kind}`);
    expect(decide(world, requestOf({ oldObject: right, object: wrong }), circumstances)).toHaveProperty('allowed', false);
  });
});

test('there are examples of most rules', () => {
  expect(new Set(cases.map(([id]) => id)).size).toBeGreaterThan(denying.length / 2);
});
