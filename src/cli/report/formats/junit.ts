import { activeFindings, type Report, type ReportedFinding, type Reported } from '../report.ts';
import { sentence } from './text.ts';

/** JUnit XML: a suite for each file and a case for each object, which fails if it has an error. Other findings are output. */
export async function* writeJunit(report: Report): AsyncGenerator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="sallyport">\n';
  let suite: Reported[] = [];
  for await (const object of report) {
    if (object.type === 'skipped') continue;
    if (suite[0] !== undefined && suite[0].file !== object.file) {
      yield* suiteOf(suite);
      suite = [];
    }
    suite.push(object);
  }
  yield* suiteOf(suite);
  yield '</testsuites>\n';
}

function* suiteOf(objects: readonly Reported[]): Generator<string> {
  const [first] = objects;
  if (first === undefined) return;
  const failures = objects.filter((object) => errorsOf(object).length > 0).length;
  yield `  <testsuite${attributes({ name: first.file, tests: objects.length, failures, errors: 0, skipped: 0, time: 0 })}>\n`;
  for (const object of objects) yield caseOf(object);
  yield '  </testsuite>\n';
}

function caseOf(object: Reported): string {
  const errors = errorsOf(object);
  const others = activeFindings(object).filter(({ severity }) => severity !== 'error');
  const [first] = errors;
  const failure =
    first === undefined
      ? ''
      : `      <failure${attributes({ type: first.rule, message: sentence(first) })}>${text(errors, object)}</failure>\n`;
  const output = others.length === 0 ? '' : `      <system-out>${text(others, object)}</system-out>\n`;
  const head = `    <testcase${attributes({ classname: object.file, name: object.type === 'problem' ? 'file' : object.name, time: 0 })}`;
  return failure + output === '' ? `${head}/>\n` : `${head}>\n${failure}${output}    </testcase>\n`;
}

function errorsOf(object: Reported): readonly ReportedFinding[] {
  return activeFindings(object).filter(({ severity }) => severity === 'error');
}

function text(findings: readonly ReportedFinding[], { file }: Reported): string {
  return findings
    .map((finding) =>
      escape(
        `${file}:${finding.position.line}:${finding.position.column}: ${finding.severity} [${finding.rule}] ${sentence(finding)}`,
      ),
    )
    .join('\n');
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escape(String(value))}"`)
    .join('');
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
// XML 1.0 forbids these, even as character references (2.2): C0 controls, lone surrogates, U+FFFE and U+FFFF.
const forbidden = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
// Character references survive the normalization of attributes and line ends (2.11, 3.3.3), and make invisible characters visible.
const special = /[&<>"\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes the text of an attribute or element. Forbidden characters become `\u001b`, as in messages. */
function escape(value: string): string {
  return value
    .replace(forbidden, (character) => `\\u${codeOf(character).padStart(4, '0')}`)
    .replace(special, (character) => entities[character] ?? `&#x${codeOf(character)};`);
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}
