import { reportedObject, reportedProblem, type Statement } from '../../src/cli/report/reported.ts';
import type { Report, ReportedObject, ReportFormat } from '../../src/cli/report/report.ts';
import type { FileProblem } from '../../src/files/document.ts';
import { parseDocuments } from '../../src/files/parse.ts';
import { collect } from './collect.ts';

/** The first object of a YAML text with some statements about it. */
export function reported(text: string, statements: readonly Statement[], file = 'a.yaml'): ReportedObject {
  const [document] = parseDocuments(text, file).documents;
  if (document === undefined) throw new Error('there is no object');
  return reportedObject(document, 'HTTPRoute shop/cart', statements);
}

/** A problem of a file. */
export function problem(found: Partial<FileProblem>): ReportedObject {
  return reportedProblem({ file: 'a.yaml', severity: 'error', message: 'it is broken', ...found });
}

/** A report of these objects. */
export async function* reportOf(...objects: readonly ReportedObject[]): Report {
  yield* objects;
}

/** What a format makes of some objects, without colours. */
export async function written(format: ReportFormat, ...objects: readonly ReportedObject[]): Promise<string> {
  return (await collect(format(reportOf(...objects), { style: (_style, text) => text, version: '1.2.3' }))).join('');
}
