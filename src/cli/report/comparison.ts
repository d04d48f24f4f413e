import { isRecord, listOf, recordOf } from '../../core/text/record.ts';
import { UsageError } from '../usage-error.ts';
import type { Baseline } from './baseline.ts';
import type { Comparison } from './report.ts';
import { readReportFile } from './report-file.ts';

/** The findings of an earlier report, each as often as it occurred. Those that are taken are unchanged. */
export class EarlierFindings implements Baseline {
  readonly reason = 'unchanged since the earlier report';
  private readonly left = new Map<string, number>();
  private taken = 0;
  private missing = 0;

  constructor(identities: readonly string[]) {
    for (const identity of identities) this.left.set(identity, (this.left.get(identity) ?? 0) + 1);
  }

  take(identity: string): boolean {
    const count = this.left.get(identity) ?? 0;
    if (count === 0) this.missing += 1;
    else {
      this.taken += 1;
      this.left.set(identity, count - 1);
    }
    return count > 0;
  }

  /** The comparison. Valid once all findings were passed to `take`. */
  comparison(): Comparison {
    const gone = [...this.left].flatMap(([identity, count]) => Array.from({ length: count }, () => identity)).sort();
    return { new: this.missing, unchanged: this.taken, gone };
  }
}

/**
 * Reads the findings of a report in the format of -o json. Findings that annotations of the object suppressed do not count.
 *
 * @param namespace restricts them to objects of this namespace. `undefined`: no restriction
 * @throws UsageError if the file cannot be read or is not such a report
 */
export async function readEarlierFindings(file: string, namespace?: string): Promise<EarlierFindings> {
  const { tool, objects } = recordOf(await readReportFile(file));
  if (tool !== 'sallyport' || !Array.isArray(objects))
    throw new UsageError(
      `The report ${file} has no list of objects. Create it with "sallyport audit --cluster -o json".`,
    );
  const findings = listOf(objects)
    .map(recordOf)
    .filter((object) => namespace === undefined || object['namespace'] === namespace)
    .flatMap((object) => listOf(object['findings']))
    .filter(isRecord);
  const counting = findings.filter(({ suppression }) => {
    const { by } = recordOf(suppression);
    return by === undefined || by === 'baseline';
  });
  return new EarlierFindings(
    counting.map(({ identity }) => identity).filter((identity) => typeof identity === 'string'),
  );
}

/** `2 new, 1 gone, 14 unchanged` */
export function describeComparison({ new: added, gone, unchanged }: Comparison): string {
  return `${added} new, ${gone.length} gone, ${unchanged} unchanged`;
}
