import { nearest } from '../core/text/suggest.ts';
import { packageFile } from './package-files.ts';
import { ruleSummaries } from './report/rules.ts';
import { UsageError } from './usage-error.ts';

/** The documentation of a rule, in Markdown. Throws UsageError if the rule is not found. */
export function explainRule(id: string): string {
  const summary = ruleSummaries.get(id);
  if (summary === undefined) {
    const near = nearest(id, ruleSummaries.keys());
    throw new UsageError(
      `unknown rule ${id}; ${near === undefined ? 'findings show rule ids in brackets' : `did you mean ${near}?`}`,
    );
  }
  return packageFile(`docs/rules/${id}.md`) ?? `# ${id}\n\n${summary}\n`;
}
