import { activeFindings, counted, describeTally, nothing, type Report, type Severity } from '../report.ts';
import { sentence } from './text.ts';

const commands = { error: 'error', warning: 'warning', note: 'notice' } as const satisfies Record<Severity, string>;

/** Workflow commands of GitHub Actions, which show as annotations in a pull request. */
export async function* writeGithub(report: Report): AsyncGenerator<string> {
  let tally = nothing;
  for await (const object of report) {
    tally = counted(tally, object);
    for (const finding of activeFindings(object)) {
      const { line, column } = finding.position;
      const properties = { file: object.file, line, col: column, title: finding.rule };
      const list = Object.entries(properties)
        .map(([name, value]) => `${name}=${escapeProperty(String(value))}`)
        .join(',');
      yield `::${commands[finding.severity]} ${list}::${escapeData(sentence(finding))}\n`;
    }
  }
  yield `${describeTally(tally)}\n`;
}

// Control characters and other invisible ones. The runner itself decodes %0D, %0A, %25, and in properties %3A and %2C.
const inData = /[%\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const inProperty = /[%:,\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function escapeData(text: string): string {
  return text.toWellFormed().replace(inData, encode);
}

function escapeProperty(text: string): string {
  return text.toWellFormed().replace(inProperty, encode);
}

function encode(character: string): string {
  return encodeURIComponent(character);
}
