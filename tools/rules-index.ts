/**
 * Writes docs/rules/README.md, the table of all rules, from the registry:
 *
 *   node tools/rules-index.ts
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  effectOf,
  exemptionRule,
  lostProtectionRule,
  schemaRule,
  unknownFieldRule,
} from '../src/core/admission/policy.ts';
import { immutableFields } from '../src/core/rules/official/changes.ts';
import { controllerNameChanged } from '../src/core/rules/gateways/controller-name-changed.ts';
import { demandingKinds } from '../src/core/rules/official/table.ts';
import { bundleRules, objectRules, unenforcedRules, writeRules } from '../src/core/rules/engine/registry.ts';
import { unenforcedKinds } from '../src/core/rules/unenforced/table.ts';
import { exampleMessages } from '../test/support/rule-messages.ts';
import {
  profiles,
  type Consequence,
  type Effect,
  type Profile,
  type ObjectRule,
  type Rule,
} from '../src/core/rules/engine/rule.ts';

const folder = fileURLToPath(new URL('../docs/rules/', import.meta.url));

const preface = `<!-- Written by tools/rules-index.ts; edit the rules instead. -->

# Rules

Each rule has an id. Denials, warnings, the output of commands and audit annotations contain it. A rule has two independent properties
([ADR 0003](../adr/0003-findings-have-two-axes.md)):

- **Effect**: the action of admission, by profile. \`deny\` denies the object, \`warn\` admits it with a warning, \`record\` only writes the
  finding to the audit log, and \`none\` does nothing.
- **Consequence**: the effect on status and traffic, regardless of admission. It consists of the condition, its reason, and the part of
  the object that does not work.

A rule marked **bundle** reports violations of the validation rules (CEL) in the CRDs of a bundle. It reports nothing for bundles without the
validation rule ([ADR 0012](../adr/0012-official-rules-are-a-table-of-sites.md)). Other rules are independent of the bundle. For kinds that
are not evaluated, some of them also report violations of validation rules.

A rule marked **dialect** is about the features of Sallyport rather than about the specification. The table shows its effects on objects
that Sallyport serves. If other controllers also serve the object, its \`deny\` becomes \`warn\`, and the message names the parents that it
applies to. If the controller is unknown, the finding is recorded. If only other controllers serve the object, there is no finding. The
same applies to single findings of some other rules, such as an unsupported kind of backend.

If the consequence depends on the case, the table shows the most common one, or \`–\` if most cases have none.`;

/** Ids of the rules with a page. */
export function rulesWithPage(): ReadonlySet<string> {
  return new Set(
    readdirSync(folder)
      .filter((file) => file.endsWith('.md'))
      .map((file) => file.slice(0, -'.md'.length)),
  );
}

/** A rule in the index, with the kinds whose objects it checks. */
export type IndexedRule = Omit<Rule, 'about'> & {
  readonly kinds: readonly string[];
  readonly about?: ObjectRule['about'] | 'bundle';
};

/** All rules, in the order of findings. */
export function indexedRules(): readonly IndexedRule[] {
  const demanding = (id: string): readonly string[] => demandingKinds.get(id) ?? [];
  return [
    ...objectRules.map((rule) => ({
      ...rule,
      kinds: [...new Set([...rule.kinds, ...demanding(rule.id), ...(unenforcedKinds.get(rule.id) ?? [])])],
    })),
    ...bundleRules.map((rule) => ({ ...rule, about: 'bundle' as const, kinds: demanding(rule.id) })),
    ...unenforcedRules.map((rule) => ({
      ...rule,
      kinds: [...new Set([...(unenforcedKinds.get(rule.id) ?? []), ...demanding(rule.id)])],
    })),
    ...writeRules.map((rule) =>
      rule === controllerNameChanged
        ? { ...rule, about: 'bundle' as const, kinds: Object.keys(immutableFields) }
        : { ...rule, kinds: ['all'] },
    ),
  ];
}

/**
 * The index as Markdown.
 *
 * @param pages ids to link
 * @param messagesOf messages of a rule for the wrong examples on its page
 */
export function rulesIndex(
  rules: readonly IndexedRule[],
  pages: ReadonlySet<string>,
  messagesOf: (id: string) => readonly string[] = () => [],
): string {
  const header = ['Rule', 'Kinds', 'Problem', ...profiles, 'Consequence'];
  const rows = [
    header,
    header.map(() => '---'),
    ...rules.map((rule) => ruleRow(rule, pages)),
    schemaRow(schemaRule, 'The object violates the schema of its bundle.'),
    schemaRow(unknownFieldRule, 'A field is unknown to the bundle, so the API server drops it.'),
    schemaRow(
      lostProtectionRule,
      'A field that protects something is unknown to the bundle, so the API server drops it, and the protection is lost.',
    ),
    schemaRow(
      exemptionRule,
      'The [exemption](../guides/settings.md#exempt-a-single-object) of an object is invalid, expired or forbidden.',
    ),
  ];
  const messages = rules.flatMap(({ id }) => messagesOf(id).map((message) => `- **${id}**: ${prose(message)}\n`));
  return `${preface}\n\n${rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}\n## Messages\n\nThe messages for the wrong examples on the pages of the rules:\n\n${messages.join('')}`;
}

function ruleRow(
  { id, kinds, summary, about, effect, consequence }: IndexedRule,
  pages: ReadonlySet<string>,
): readonly string[] {
  const title = `${pages.has(id) ? `[${id}](${id}.md)` : `\`${id}\``}${about === undefined ? '' : ` (${about})`}`;
  return [
    title,
    kinds.join(', '),
    cell(summary),
    ...effects((profile) => effect[profile]),
    consequenceText(consequence),
  ];
}

/** Findings of the schema and of exemptions have no entry in the registry, because they apply to every kind and field. */
function schemaRow(id: string, summary: string): readonly string[] {
  const bundle = { minor: '1.7', channel: 'standard' } as const;
  const effectIn = (profile: Profile): Effect => effectOf({ rule: id }, { profile, overrides: {}, bundle }, 'ours');
  return [`\`${id}\``, 'all', summary, ...effects(effectIn), consequenceText(undefined)];
}

function effects(effectIn: (profile: Profile) => Effect): readonly string[] {
  return profiles.map((profile) => effectIn(profile));
}

function consequenceText(consequence: Consequence | undefined): string {
  if (consequence === undefined) return '–';
  return `${consequence.condition}: ${consequence.reason} (${consequence.scope})`;
}

/** Escapes text, so that Markdown shows it without emphasis or markup. */
function prose(text: string): string {
  return text.replaceAll(/[\\`*_<[]/g, (character) => `\\${character}`);
}

/** A vertical bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  writeFileSync(join(folder, 'README.md'), rulesIndex(indexedRules(), rulesWithPage(), exampleMessages));
  console.log(`docs/rules/README.md: ${indexedRules().length} rules`);
}
