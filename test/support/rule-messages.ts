import { qualifiedName } from '../../src/core/resources/reference.ts';
import { prunedFields } from '../../src/core/rules/objects/field-pruned.ts';
import { judgeChange } from '../../src/core/rules/official/changes.ts';
import { findingsOfNewest } from '../../src/core/rules/objects/refused-later.ts';
import { runToEnd } from '../../src/core/text/steps.ts';
import type { Finding } from '../../src/core/rules/engine/rule.ts';
import { findingOfUnserved } from '../../src/core/rules/support/unserved-kind.ts';
import { findings } from '../../src/core/rules/engine/run.ts';
import {
  channels,
  isKindName,
  isSchemaKind,
  minors,
  type Bundle,
  type SchemaKind,
} from '../../src/core/schema/index.ts';
import { candidateOf, evaluate, type World } from './evaluation.ts';
import { examples, rulePage, section } from './rule-pages.ts';
import { unenforcedFindings } from './rules.ts';
import { refusedByRules } from './schema.ts';

const tlsFacts = {
  type: 'certificate',
  notBefore: '2026-01-01T00:00:00Z',
  notAfter: '2027-01-01T00:00:00Z',
} as const;

/** The objects of an example, evaluated together; every TLS Secret and ConfigMap among them holds good certificates. */
export function exampleWorld(objects: readonly unknown[]): World {
  const factsOf = <T>(wanted: string, facts: (json: unknown) => T) => {
    const found = objects
      .map((json) => [candidateOf(json).resource.ref, json] as const)
      .filter(([{ kind }]) => kind === wanted);
    return Object.fromEntries(found.map(([ref, json]) => [qualifiedName(ref), facts(json)]));
  };
  return evaluate(objects, {
    bundle: { minor: '1.7', channel: 'experimental' },
    certificates: factsOf('Secret', () => tlsFacts),
    authorities: factsOf('ConfigMap', () => ({ type: 'authorities', certificates: ['PEM'] })),
    parameters: factsOf('ConfigMap', (json) => (json as { readonly data: Readonly<Record<string, string>> }).data),
  });
}

/** Newest first. */
const bundles = minors
  .toReversed()
  .flatMap((minor) => channels.toReversed().map((channel): Bundle => ({ minor, channel })));

interface Example {
  readonly kind: string;
  readonly apiVersion: string;
}

/** What a rule says of the wrong examples of its page, each message once. */
export function exampleMessages(id: string): readonly string[] {
  const objects = (examples(section(rulePage(id), 'Wrong')) as readonly Example[]).filter(({ kind }) =>
    isSchemaKind(kind),
  );
  const inBundle = (bundle: Bundle): readonly Finding[] =>
    objects.flatMap((json) => byBundle(json, bundle)).filter(({ rule }) => rule === id);
  const always = [...evaluated(objects), ...byChange(objects)].filter(({ rule }) => rule === id);
  const found = always.length > 0 ? always : (bundles.map(inBundle).find((some) => some.length > 0) ?? []);
  return [...new Set(found.map(({ message }) => message))];
}

function evaluated(objects: readonly Example[]): readonly Finding[] {
  const { kernel, candidates } = exampleWorld(objects.filter(({ kind }) => isKindName(kind)));
  return candidates.flatMap(({ resource: { ref } }) => kernel.read.query(findings, ref.kind, ref.namespace, ref.name));
}

function byBundle(json: Example, bundle: Bundle): readonly Finding[] {
  const { kind, apiVersion } = json;
  if (!isSchemaKind(kind)) return [];
  const unserved = isKindName(kind) ? [] : [findingOfUnserved(kind)];
  return [
    ...unserved,
    ...refusedByRules(kind, apiVersion, json, bundle),
    ...unenforcedFindings(json, bundle),
    ...prunedFields({ kind, apiVersion, json }, bundle),
    ...runToEnd(findingsOfNewest({ kind, apiVersion, json }, bundle, [])),
  ];
}

function byChange([before, after]: readonly Example[]): readonly Finding[] {
  return before === undefined || after === undefined ? [] : judgeChange(after.kind as SchemaKind, before, after);
}
