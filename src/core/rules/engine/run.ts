import { objectCell } from '../../graph/inputs.ts';
import { strata } from '../../graph/strata.ts';
import { defineQuery } from '../../incremental/index.ts';
import type { KindName } from '../../schema/index.ts';
import { linkFindings, runRules } from './link-findings.ts';
import { rivalRules } from '../matches/rival-rules.ts';
import { objectRules } from './registry.ts';
import type { Finding } from './rule.ts';

/** The kinds that have rules. */
export const judgedKinds: readonly KindName[] = [...new Set(objectRules.flatMap(({ kinds }) => kinds))];

/** All findings about one object, in the order of the registry, and within a rule in the order of the object. */
export const findings = defineQuery({
  name: 'findings',
  stratum: strata.findings,
  compute(read, kind: string, namespace: string, name: string): readonly Finding[] {
    const byLinks = read.query(linkFindings, kind, namespace, name);
    const rules = rivalRules.filter(({ kinds }) => (kinds as readonly string[]).includes(kind));
    const subject = rules.length === 0 ? undefined : read.input(objectCell, kind, namespace, name);
    const byRivals = subject === undefined ? [] : runRules(rules, subject, read);
    return byRivals.length === 0 ? byLinks : [...byLinks, ...byRivals];
  },
});
