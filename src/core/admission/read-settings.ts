import type { Path } from '../resources/path.ts';
import { allRules } from '../rules/engine/registry.ts';
import { profiles, type Effect } from '../rules/engine/rule.ts';
import {
  channels,
  knownKinds,
  parseBundleVersion,
  supportedBundles,
  supportedMinors,
  tables,
  type Minor,
} from '../schema/index.ts';
import { quote } from '../text/display.ts';
import { isRecord, recordOf } from '../text/record.ts';
import { selectorProblems } from '../text/selector.ts';
import { nearest } from '../text/suggest.ts';
import { annotationExemptions, exemptionRule, lostProtectionRule, schemaRule, unknownFieldRule } from './policy.ts';
import { policyFields, readPolicySettings, type PolicySettings } from './policy-settings.ts';
import {
  defaultSettings,
  failurePolicies,
  profileLabels,
  type BundleOverride,
  type Exemptions,
  type LabelSelector,
  type NamespaceSettings,
  type Settings,
} from './settings.ts';

/** An error in one setting: its location, the value and the fix. */
export interface SettingsProblem {
  readonly path: Path;
  readonly message: string;
}

export type ReadSettings =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly problems: readonly [SettingsProblem, ...SettingsProblem[]] };

/**
 * Reads a settings document: a JSON value as parsed from YAML, or `undefined` for an empty file. Every setting has a
 * default, and `null` counts as not set. Returns all problems at once, and never a part of an invalid document.
 */
export function readSettings(json: unknown): ReadSettings {
  const problems: SettingsProblem[] = [];
  const given = document(json ?? {}, [], (path, message) => void problems.push({ path, message }));
  const [first, ...others] = problems;
  if (first !== undefined) return { ok: false, problems: [first, ...others] };
  return {
    ok: true,
    settings: { ...defaultSettings, ...given, exemptions: { ...defaultSettings.exemptions, ...given?.exemptions } },
  };
}

type ReportProblem = (path: Path, message: string) => undefined;

/** Reads a value, or reports why it cannot and returns nothing. */
type Read<T> = (json: unknown, path: Path, report: ReportProblem) => T | undefined;

type Fields<T> = { readonly [K in keyof T]-?: Read<NonNullable<T[K]>> };

function fieldsOf<T extends object>(fields: Fields<T>): Read<Partial<T>> {
  return (json, path, report) => {
    if (!isRecord(json))
      return report(path, `must be an object with ${Object.keys(fields).join(', ')}, not ${quote(json)}`);
    const result: Partial<T> = {};
    for (const [key, value] of Object.entries(json)) {
      if (!hasField(fields, key)) report([...path, key], `unknown setting. ${choice(key, Object.keys(fields))}`);
      else if (value !== null) {
        const read = fields[key](value, [...path, key], report);
        if (read !== undefined) result[key] = read;
      }
    }
    return result;
  };
}

function hasField<T extends object>(fields: Fields<T>, key: string): key is keyof T & string {
  return Object.hasOwn(fields, key);
}

function oneOf<const T extends string>(values: readonly T[]): Read<T> {
  return (json, path, report) => {
    const found = values.find((value) => value === json);
    return found ?? report(path, `unsupported value ${quote(json)}. ${choice(json, values)}`);
  };
}

function listOf<T>(item: Read<T>): Read<readonly T[]> {
  return (json, path, report) => {
    if (!Array.isArray(json))
      return report(path, `must be a list, not ${quote(json)}. Put each entry on its own line after "- "`);
    return json.flatMap((value, index) => {
      const read = item(value, [...path, index], report);
      return read === undefined ? [] : [read];
    });
  };
}

function text(example: string, form: RegExp = /^/): Read<string> {
  return (json, path, report) =>
    typeof json === 'string' && json !== '' && form.test(json)
      ? json
      : report(path, `must be ${example}, not ${quote(json)}`);
}

const ruleIds = [...allRules.map(({ id }) => id), schemaRule, unknownFieldRule, lostProtectionRule, exemptionRule];
const effect = oneOf<Effect>(['none', 'record', 'warn', 'deny']);

const effects: Read<Readonly<Record<string, Effect>>> = (json, path, report) => {
  if (!isRecord(json)) return report(path, `must map rule ids to none, record, warn or deny, not ${quote(json)}`);
  const entries = Object.entries(json).map(([id, value]) => {
    if (!ruleIds.includes(id))
      report([...path, id], `unknown rule. ${choice(id, ruleIds, 'See docs/rules for the list of rules')}`);
    return [id, effect(value, [...path, id], report)] as const;
  });
  return Object.fromEntries(entries.filter((entry): entry is [string, Effect] => entry[1] !== undefined));
};

const namespaceName = text(
  'a namespace name (use a selector for many namespaces)',
  /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/,
);

const selectorKeys = ['matchLabels', 'matchExpressions'];

const selector: Read<LabelSelector> = (json, path, report) => {
  // If a misspelt requirement were ignored, the selector would match every namespace.
  const unknown = isRecord(json) ? Object.keys(json).filter((key) => !selectorKeys.includes(key)) : [];
  for (const key of unknown) report([...path, key], `unknown selector field. ${choice(key, selectorKeys)}`);
  for (const problem of selectorProblems(json)) report([...path, ...problem.path], problem.message);
  return isRecord(json) ? json : undefined;
};

const bundle: Read<Minor> = (json, path, report) => {
  const version = parseBundleVersion(json);
  if (version.ok && supportedMinors.includes(version.minor)) return version.minor;
  const why = version.ok ? 'the release is unsupported' : version.problem;
  return report(path, `unsupported bundle ${quote(json)}: ${why}. Use one of ${supportedBundles.join(', ')}`);
};

const namespaceFields: Fields<NamespaceSettings> = {
  names: listOf(namespaceName),
  selector,
  profile: oneOf(profiles),
  effects,
};
const exemptionFields: Fields<Exemptions> = {
  annotations: oneOf(annotationExemptions),
  namespaces: listOf(namespaceName),
  usernames: listOf(text('a user name as in the audit log, for example system:serviceaccount:flux-system:flux')),
  groups: listOf(text('a group as in the audit log, for example system:serviceaccounts:flux-system')),
};
const overrideFields: Fields<BundleOverride> = {
  kinds: listOf(oneOf([...Object.keys(tables), ...knownKinds.map(({ kind }) => kind)])),
  bundle,
  channel: oneOf(channels),
};

const namespaceEntry: Read<NamespaceSettings> = (json, path, report) => {
  const entry = fieldsOf(namespaceFields)(json, path, report);
  if (isRecord(json) && !isGiven(json['names']) && !isGiven(json['selector']))
    report(path, 'no namespaces selected. Set names or selector');
  return entry;
};

/** An empty list of names also matches nothing, which is never intended. */
function isGiven(json: unknown): boolean {
  return json !== undefined && json !== null && !(Array.isArray(json) && json.length === 0);
}

const policyName = text('a DNS name in lower case, for example shop', /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/);

const policyEntry: Read<PolicySettings> = (json, path, report) => {
  if (!isRecord(json)) return report(path, `must be an object with ${policyFields.join(', ')}, not ${quote(json)}`);
  const { name: given, ...spec } = json;
  const name = policyName(given, [...path, 'name'], report);
  const policy = readPolicySettings(name ?? '', spec, (below, message) => report([...path, ...below], message));
  return name === undefined ? undefined : policy;
};

const policyEntries: Read<readonly PolicySettings[]> = (json, path, report) => {
  const policies = listOf(policyEntry)(json, path, report);
  const names = (Array.isArray(json) ? json : []).map((entry: unknown) => recordOf(entry)['name']);
  for (const [index, name] of names.entries())
    if (typeof name === 'string' && names.indexOf(name) < index)
      report([...path, index, 'name'], `duplicate name ${quote(name)}. Use another name`);
  return policies;
};

const topFields: Fields<Settings> = {
  profile: oneOf(profiles),
  effects,
  failurePolicy: oneOf(failurePolicies),
  profileLabel: oneOf(profileLabels),
  namespaces: listOf(namespaceEntry),
  exemptions: (json, path, report) => {
    const given = fieldsOf(exemptionFields)(json, path, report);
    return given === undefined ? undefined : { ...defaultSettings.exemptions, ...given };
  },
  bundleOverrides: listOf(fieldsOf(overrideFields)),
  hostnamePolicies: policyEntries,
};
const document = fieldsOf(topFields);

/** All settings, as paths without positions, e.g. `namespaces[].selector`. */
export const settingNames: readonly string[] = [
  ...Object.keys(topFields),
  ...Object.keys(namespaceFields).map((key) => `namespaces[].${key}`),
  ...Object.keys(exemptionFields).map((key) => `exemptions.${key}`),
  ...Object.keys(overrideFields).map((key) => `bundleOverrides[].${key}`),
  ...policyFields.map((key) => `hostnamePolicies[].${key}`),
];

/** The fix: the value with the most similar spelling, or the list of valid values. */
function choice(written: unknown, known: readonly string[], all = `Use one of ${known.join(', ')}`): string {
  const near = typeof written === 'string' ? nearest(written, known) : undefined;
  return near === undefined ? all : `Did you mean ${near}?`;
}
