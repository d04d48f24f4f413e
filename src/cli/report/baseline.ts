import { largeFile, readText } from '../../files/read-file.ts';
import { writeRegular } from '../../files/write-file.ts';
import { orUsageError, UsageError } from '../usage-error.ts';
import { jsonText } from './json-text.ts';
import type { Report, ReportedFinding } from './report.ts';

/** Known findings that do not count, each as often as it occurred when the baseline was written. */
export interface Baseline {
  /** Why the findings do not count. */
  readonly reason: string;
  /** Removes one finding of this identity from the baseline. Returns false if there is none left. */
  take(identity: string): boolean;
}

const listedReason = 'listed in the baseline';

/** Reads a baseline that `BaselineRecorder` wrote. Throws UsageError if it cannot be read. */
export async function readBaseline(file: string): Promise<Baseline> {
  const text = await orUsageError(`the baseline ${file}`, readText(file, largeFile));
  const left = new Map<string, number>();
  for (const identity of identitiesIn(text, file)) left.set(identity, (left.get(identity) ?? 0) + 1);
  return {
    reason: listedReason,
    take(identity) {
      const count = left.get(identity) ?? 0;
      if (count > 0) left.set(identity, count - 1);
      return count > 0;
    },
  };
}

function identitiesIn(text: string, file: string): readonly string[] {
  const advice = `create it again with --write-baseline ${file}`;
  let json: { readonly version?: unknown; readonly findings?: unknown } | null;
  try {
    json = JSON.parse(text) as typeof json;
  } catch {
    throw new UsageError(`the baseline ${file} is not JSON; ${advice}`);
  }
  const findings = json?.findings;
  if (json?.version !== 1 || !Array.isArray(findings) || !findings.every((entry) => typeof entry === 'string')) {
    throw new UsageError(
      `the baseline ${file} does not have version 1, or its findings are not a list of strings; ${advice}`,
    );
  }
  return findings;
}

/** A baseline that records all findings, to write them to a file. */
export class BaselineRecorder implements Baseline {
  readonly reason = listedReason;
  private readonly identities: string[] = [];

  take(identity: string): boolean {
    this.identities.push(identity);
    return true;
  }

  get size(): number {
    return this.identities.length;
  }

  /** Writes sorted lines, one for each finding, so that changes of the file can be reviewed. Throws UsageError if it cannot write. */
  async write(file: string): Promise<void> {
    const text = `${jsonText({ version: 1, findings: this.identities.sort() }, 2)}\n`;
    await orUsageError(`the baseline ${file}`, writeRegular(file, text));
  }
}

/** Suppresses the findings of the baseline. */
export async function* withBaseline(report: Report, baseline: Baseline): Report {
  for await (const object of report)
    yield { ...object, findings: object.findings.map((finding) => compare(finding, baseline)) };
}

function compare(finding: ReportedFinding, baseline: Baseline): ReportedFinding {
  const { identity, suppression } = finding;
  if (identity === undefined || suppression !== undefined || !baseline.take(identity())) return finding;
  return { ...finding, suppression: { by: 'baseline', reason: baseline.reason } };
}
