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
  const run = new Run();
  for (const rule of rules) run.check(rule, subject, read);
  return run.found;
}

/** One run of rules on an object. Almost all rules have no findings, so everything that only a finding needs exists once per run. */
class Run {
  found: readonly Finding[] = none;
  private rule = '';
  private ofRule: FindingsOfRule | undefined;
  private readonly report: ReportFinding = (finding) =>
    (this.ofRule ??= new FindingsOfRule()).add({ rule: this.rule, ...finding });

  check(rule: ObjectRule, subject: Resource, read: Reader): void {
    this.rule = rule.id;
    try {
      rule.check(subject, read, this.report);
    } catch (error) {
      // A rule that throws is a bug in Sallyport. It must not affect the object or other objects.
      this.report({
        path: [],
        message: `Internal error: the rule failed to check the object (${String(error)}). Please report it.`,
      });
    }
    if (this.ofRule === undefined) return;
    this.found = [...this.found, ...this.ofRule.found];
    this.ofRule = undefined;
  }
}
