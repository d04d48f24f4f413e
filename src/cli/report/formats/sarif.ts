import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jsonText } from '../json-text.ts';
import { ruleSummaries } from '../rules.ts';
import type { Report, Reported, ReportedFinding, ReportSetting } from '../report.ts';
import { sentence } from './text.ts';

const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/** SARIF 2.1.0, for code scanning. Sections of the standard are in brackets. */
export async function* writeSarif(report: Report, { version }: ReportSetting): AsyncGenerator<string> {
  const rules = [...ruleSummaries].map(([id, summary]) => ({ id, shortDescription: { text: summary } }));
  const tool = { driver: { name: 'sallyport', version, rules } };
  let separator = '';
  yield `{"$schema":${jsonText(schema)},"version":"2.1.0","runs":[{"tool":${jsonText(tool)},"columnKind":"utf16CodeUnits","results":[`;
  for await (const object of report) {
    for (const finding of object.findings) {
      yield `${separator}\n${jsonText(resultOf(object, finding))}`;
      separator = ',';
    }
  }
  yield '\n]}]}\n';
}

function resultOf(object: Reported, finding: ReportedFinding) {
  const { rule, severity, identity, suppression } = finding;
  return {
    ruleId: rule,
    level: severity,
    message: { text: sentence(finding) },
    locations: [locationOf(object, finding)],
    ...(identity === undefined ? {} : { partialFingerprints: { 'sallyport/v1': identity() } }),
    // Absent in no result or in all results (3.27.23).
    suppressions:
      suppression === undefined
        ? []
        : [{ kind: suppression.by === 'baseline' ? 'external' : 'inSource', justification: suppression.reason }],
  };
}

function locationOf(object: Reported, { position: { line, column }, field, text }: ReportedFinding) {
  const region = text === undefined ? {} : { region: { startLine: line, startColumn: column } };
  const fullyQualifiedName = [object.type === 'problem' ? '' : object.name, field]
    .filter((part) => part !== '')
    .join(' ');
  return {
    physicalLocation: { artifactLocation: { uri: uriOf(object.file) }, ...region },
    ...(fullyQualifiedName === '' ? {} : { logicalLocations: [{ fullyQualifiedName }] }),
  };
}

/** Relative paths stay relative: consumers resolve them against the root of the repository. */
function uriOf(file: string): string {
  if (isAbsolute(file)) return pathToFileURL(file).href;
  return file.toWellFormed().split(/[/\\]/).map(encodeURIComponent).join('/');
}
