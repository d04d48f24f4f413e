import { exemptionOf } from '../../core/admission/exemption.ts';
import type { ListedExemption, Report, Reported } from './report.ts';

/** Collects the exemptions that objects ask for, while a report passes. */
export class ExemptionList {
  private readonly today: string;
  private readonly exemptions: ListedExemption[] = [];

  /** @param today the current day in UTC, `2026-11-23` */
  constructor(today: string) {
    this.today = today;
  }

  /** Yields the report unchanged. */
  async *passing(report: Report): Report {
    for await (const reported of report) {
      this.note(reported);
      yield reported;
    }
  }

  /** All exemptions, in the order of the report. Complete once the report has passed. */
  all(): readonly ListedExemption[] {
    return this.exemptions;
  }

  private note(reported: Reported): void {
    if (reported.type !== 'judged') return;
    const exemption = exemptionOf(reported.document.value, this.today);
    if (exemption.type === 'none') return;
    const object = reported.name;
    this.exemptions.push(
      exemption.type === 'void'
        ? { object, state: exemption.state, problem: exemption.problem, findings: 0 }
        : {
            object,
            state: 'valid',
            until: exemption.until,
            reason: exemption.reason,
            findings: reported.findings.filter(({ suppression }) => suppression?.by === 'exemption').length,
          },
    );
  }
}

/** `HTTPRoute shop/late until 2026-12-31: awaits the rewrite (2 findings)` */
export function describeExemption(listed: ListedExemption): string {
  const { object, findings } = listed;
  if (listed.state !== 'valid') return `${object} (${listed.state}): ${listed.problem}`;
  return `${object} until ${listed.until}: ${listed.reason} (${findings} finding${findings === 1 ? '' : 's'})`;
}
