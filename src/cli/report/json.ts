import { counted, nothing, type Report, type ReportSetting } from './report.ts';

/** For programs: all findings in one list, suppressed ones included, and a summary; the fields are in docs/guides/check.md. */
export async function* writeJson(report: Report, { version }: ReportSetting): AsyncGenerator<string> {
  let tally = nothing;
  let separator = '';
  yield `{"tool":"sallyport","version":${JSON.stringify(version)},"findings":[`;
  for await (const object of report) {
    tally = counted(tally, object);
    for (const { position: { line, column }, text: _text, ...finding } of object.findings) {
      yield `${separator}\n${JSON.stringify({ file: object.file, line, column, object: object.name, ...finding, identity: finding.identity?.() })}`;
      separator = ',';
    }
  }
  yield `\n],"summary":${JSON.stringify({ objects: tally.objects, ...tally.bySeverity, suppressed: tally.suppressed })}}\n`;
}
