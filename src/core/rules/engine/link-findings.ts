import { objectCell } from '../../graph/inputs.ts';
import { strata } from '../../graph/strata.ts';
import { defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Resource } from '../../resources/resource.ts';
import type { KindName } from '../../schema/index.ts';
import { FindingsOfRule } from './finding-limit.ts';
import { linkRules } from './link-rules.ts';
import type { Finding, ObjectRule, ReportFinding } from './rule.ts';

const byKind = new Map<KindName, ObjectRule[]>();
for (const rule of linkRules) {
  for (const kind of rule.kinds) byKind.set(kind, [...(byKind.get(kind) ?? []), rule]);
}

const none: readonly Finding[] = [];

/** The findings that decide which parts of an object work, in the order of the rules, and within a rule in the order of the object. */
export const linkFindings = defineQuery({
  name: 'linkFindings',
  stratum: strata.validity,
  compute(read, kind: string, namespace: string, name: string): readonly Finding[] {
    const subject = read.input(objectCell, kind, namespace, name);
    return subject === undefined ? none : runRules(byKind.get(subject.kind) ?? [], subject, read);
  },
});

/** Runs rules on an object of one of their kinds. The findings are in the order of the rules. */
export function runRules(rules: readonly ObjectRule[], subject: Resource, read: Reader): readonly Finding[] {
  const all: Finding[] = [];
  for (const rule of rules) all.push(...runRule(rule, subject, read));
  return all.length === 0 ? none : all;
}

function runRule(rule: ObjectRule, subject: Resource, read: Reader): readonly Finding[] {
  // Almost all rules have no findings.
  let findings: FindingsOfRule | undefined;
  const report: ReportFinding = (finding) => (findings ??= new FindingsOfRule()).add({ rule: rule.id, ...finding });
  try {
    rule.check(subject, read, report);
  } catch (error) {
    // A rule that throws is a bug in Sallyport. It must not affect the object or other objects.
    report({
      path: [],
      message: `Internal error: the rule failed to check the object (${String(error)}). Please report it.`,
    });
  }
  return findings?.found ?? none;
}
