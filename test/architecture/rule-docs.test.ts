import { describe, expect, test } from '@jest/globals';
import { judgeUnevaluated } from '../../src/core/admission/judge.ts';
import { fieldPruned, prunedFields } from '../../src/core/rules/objects/field-pruned.ts';
import { judgeChange } from '../../src/core/rules/official/changes.ts';
import { controllerNameChanged } from '../../src/core/rules/gateways/controller-name-changed.ts';
import { defensiveRules } from '../../src/core/rules/engine/link-rules.ts';
import { allRules, bundleRules, objectRules, unenforcedRules } from '../../src/core/rules/engine/registry.ts';
import { findingsOfNewest, refusedLater } from '../../src/core/rules/objects/refused-later.ts';
import { runToEnd } from '../../src/core/text/steps.ts';
import type { Finding, ObjectRule, Rule } from '../../src/core/rules/engine/rule.ts';
import { findings } from '../../src/core/rules/engine/run.ts';
import { unservedKind } from '../../src/core/rules/support/unserved-kind.ts';
import { consequenceOf } from '../../src/core/rules/engine/validity.ts';
import { channels, isKindName, isSchemaKind, minors, type Bundle } from '../../src/core/schema/index.ts';
import { inForce } from '../../tools/compare-rules.ts';
import { standardPolicy, type World } from '../support/evaluation.ts';
import { exampleWorld } from '../support/rule-messages.ts';
import { examples, rulePage, section } from '../support/rule-pages.ts';
import { findingsOf, unenforcedFindings } from '../support/rules.ts';
import { refusedByRules, refusedBySchema } from '../support/schema.ts';

// The page of a rule is what its user reads, so its examples are run and its tables compared with the rule.

describe.each(allRules.map((rule) => [rule.id, rule] as const))('docs/rules/%s.md', (id, rule) => {
  const page = rulePage(id);

  test('says what the rule says', () => {
    const { audit, standard, strict } = rule.effect;
    expect(page.startsWith(`# ${id}\n\n${rule.summary}\n`)).toBe(true);
    expect(page).toContain(`**Source:** ${rule.source}\n`);
    expect(section(page, 'Behavior')).toContain(
      `| audit | standard | strict |\n|---|---|---|\n| ${audit} | ${standard} | ${strict} |\n`,
    );
  });

  test('says how to silence it', () => {
    expect(section(page, 'How to silence').trim()).not.toBe('');
  });
});

describe.each(defensiveRules.map((rule) => [rule.id, rule] as const))(
  'docs/rules/%s.md, whose objects are judged alone',
  (id, rule) => {
    const page = rulePage(id);

    test('names the reason that status shows for the wrong example', () => {
      const found = examples(section(page, 'Wrong')).flatMap((object) => findingsOf(rule, object));
      const reasons = found.map(
        (finding) => (finding.consequence ?? rule.consequence)?.reason ?? 'Status and traffic do not change',
      );
      for (const reason of reasons) expect(section(page, 'Behavior')).toContain(reason);
      expect(reasons).not.toEqual([]);
    });

    test('every wrong example has this finding', () => {
      const wrong = examples(section(page, 'Wrong'));
      expect(wrong.map((object) => findingsOf(rule, object).length > 0)).toEqual(wrong.map(() => true));
      expect(wrong).not.toEqual([]);
    });

    test('a right example has no finding of any of these rules', () => {
      const right = examples(section(page, 'Right'));
      expect(right.flatMap((object) => defensiveRules.flatMap((other) => findingsOf(other, object)))).toEqual([]);
      expect(right).not.toEqual([]);
    });
  },
);

function findingsIn({ kernel, candidates }: World): readonly Finding[] {
  return candidates.flatMap(({ resource: { ref } }) => kernel.read.query(findings, ref.kind, ref.namespace, ref.name));
}

const defensive: ReadonlySet<ObjectRule> = new Set(defensiveRules);

describe.each(objectRules.filter((rule) => !defensive.has(rule)).map((rule) => [rule.id, rule] as const))(
  'docs/rules/%s.md, whose objects are evaluated together',
  (id, rule) => {
    const page = rulePage(id);

    test('the wrong example has this finding alone, with the reason that the page names', () => {
      const found = findingsIn(exampleWorld(examples(section(page, 'Wrong'))));
      const reasons = found.map((finding) => consequenceOf(finding)?.reason ?? 'Status and traffic do not change');
      expect(new Set(found.map((finding) => finding.rule))).toEqual(new Set([id]));
      for (const reason of reasons) expect(section(page, 'Behavior')).toContain(reason);
    });

    test('the right example has no finding of any rule, and nothing that the schema refuses', () => {
      const world = exampleWorld(examples(section(page, 'Right')));
      expect(findingsIn(world)).toEqual([]);
      expect(world.candidates.flatMap((candidate) => world.judge(candidate))).toEqual([]);
      expect(world.candidates.some(({ resource }) => (rule.kinds as readonly string[]).includes(resource.kind))).toBe(
        true,
      );
    });
  },
);

/** Newest first; of one release the channel that demands more. */
const bundles = minors
  .toReversed()
  .flatMap((minor) => channels.toReversed().map((channel): Bundle => ({ minor, channel })));

function refusedBy(bundle: Bundle, object: unknown): readonly string[] {
  const { kind, apiVersion } = object as { readonly kind: string; readonly apiVersion: string };
  if (!isSchemaKind(kind)) throw new Error(`${kind} has no schema`);
  const structure = refusedBySchema(kind, apiVersion, object, bundle).map(({ message }) => message);
  return [...structure, ...refusedByRules(kind, apiVersion, object, bundle).map(({ rule }) => rule)];
}

/** Some rules that bundles enforce are applied to other bundles, too. */
const isInForce = ({ id }: Rule): boolean => rulePage(id).includes('\n**In force:** ');

describe.each([...bundleRules, ...unenforcedRules.filter(isInForce)].map(({ id }) => [id] as const))(
  'docs/rules/%s.md, whose objects a bundle refuses',
  (id) => {
    const page = rulePage(id);
    const wrong = examples(section(page, 'Wrong'));
    const right = examples(section(page, 'Right'));

    test('says which bundles do', () => {
      expect(page).toContain(`\n**In force:** ${inForce(id)}\n`);
    });

    test('some bundle refuses the wrong examples for this reason alone, and takes the right ones', () => {
      const bundle = bundles.find((candidate) => wrong.some((object) => refusedBy(candidate, object).includes(id)));
      if (bundle === undefined) throw new Error('no bundle refuses them');
      expect(wrong.map((object) => refusedBy(bundle, object))).toEqual(wrong.map(() => [id]));
      expect(right.flatMap((object) => refusedBy(bundle, object))).toEqual([]);
      expect(right).not.toEqual([]);
    });
  },
);

describe.each(unenforcedRules.filter((rule) => !isInForce(rule)).map(({ id }) => [id] as const))(
  'docs/rules/%s.md, whose objects every bundle or some bundle takes',
  (id) => {
    const page = rulePage(id);
    const wrong = examples(section(page, 'Wrong'));
    const right = examples(section(page, 'Right'));

    test('some bundle takes the wrong examples, which have this finding alone, and the right ones, which have none', () => {
      const bundle = bundles.find((candidate) =>
        wrong.every(
          (object) => refusedBy(candidate, object).length === 0 && remarkedIn(candidate, object).join() === id,
        ),
      );
      if (bundle === undefined) throw new Error('no bundle takes them');
      expect(right.flatMap((object) => [...refusedBy(bundle, object), ...remarkedIn(bundle, object)])).toEqual([]);
      expect(right).not.toEqual([]);
    });
  },
);

/** The rules that find something in an object. */
function remarkedIn(bundle: Bundle, object: unknown): readonly string[] {
  return [...new Set(unenforcedFindings(object, bundle).map(({ rule }) => rule))];
}

describe.each([[fieldPruned.id]])('docs/rules/%s.md, whose objects come with a note of what was applied', (id) => {
  test.each([
    ['Wrong', [id]],
    ['Right', []],
  ])('%s', (heading, expected) => {
    const objects = examples(section(rulePage(id), heading));
    const found = objects.flatMap((json) =>
      prunedFields(
        { kind: 'HTTPRoute', apiVersion: 'gateway.networking.k8s.io/v1', json },
        { minor: '1.7', channel: 'standard' },
      ),
    );
    expect(found.map(({ rule }) => rule)).toEqual(expected);
  });
});

describe.each([[refusedLater.id]])('docs/rules/%s.md, whose objects an older bundle takes', (id) => {
  test.each([
    ['Wrong', [id]],
    ['Right', []],
  ])('%s', (heading, expected) => {
    const bundle: Bundle = { minor: '1.6', channel: 'standard' };
    const objects = examples(section(rulePage(id), heading));
    expect(objects.flatMap((object) => refusedBy(bundle, object))).toEqual([]);
    const found = objects.flatMap((json) =>
      runToEnd(findingsOfNewest({ kind: 'HTTPRoute', apiVersion: 'gateway.networking.k8s.io/v1', json }, bundle, [])),
    );
    expect(found.map(({ rule }) => rule)).toEqual(expected);
  });
});

describe.each([[controllerNameChanged.id]])('docs/rules/%s.md, whose first object becomes the second', (id) => {
  const page = rulePage(id);

  test.each([
    ['Wrong', [id]],
    ['Right', []],
  ])('%s', (heading, expected) => {
    const [before, after] = examples(section(page, heading)) as readonly { readonly kind: string }[];
    if (before === undefined || after === undefined || !isSchemaKind(after.kind))
      throw new Error('there must be two objects');
    expect(judgeChange(after.kind, before, after).map(({ rule }) => rule)).toEqual(expected);
  });

  test('says which bundles refuse that', () => {
    expect(page).toContain(`\n**In force:** ${inForce(id)}\n`);
  });
});

/** All kinds of the standard channel are evaluated. */
const experimentalPolicy = {
  ...standardPolicy,
  bundle: { ...standardPolicy.bundle, channel: 'experimental' },
} as const;

describe.each([[unservedKind.id]])('docs/rules/%s.md, whose objects are of kinds that are not evaluated', (id) => {
  test.each([
    ['Wrong', [id]],
    ['Right', []],
  ])('%s', (heading, expected) => {
    const objects = examples(section(rulePage(id), heading)) as readonly {
      readonly kind: string;
      readonly apiVersion: string;
    }[];
    const { kernel } = exampleWorld(objects.filter(({ kind }) => isKindName(kind)));
    const found = objects.flatMap((json) =>
      isSchemaKind(json.kind) && !isKindName(json.kind)
        ? judgeUnevaluated(kernel.read, { kind: json.kind, apiVersion: json.apiVersion, json }, experimentalPolicy)
        : [],
    );
    expect(found.map(({ rule, effect }) => [rule, effect])).toEqual(expected.map((rule) => [rule, 'warn']));
  });
});
