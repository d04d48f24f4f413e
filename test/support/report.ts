import { reportedObject, reportedProblem, skippedObject, type Statement } from '../../src/cli/report/reported.ts';
import type { Report, Reported, ReportedObject, ReportedProblem, ReportFormat } from '../../src/cli/report/report.ts';
import type { FileProblem, SourceDocument } from '../../src/files/document.ts';
import { parseDocuments } from '../../src/files/parse.ts';
import { collect } from './collect.ts';

/** The first object of a YAML text with some statements about it. */
export function reported(text: string, statements: readonly Statement[], file = 'a.yaml'): ReportedObject {
  return reportedObject(firstOf(text, file), 'HTTPRoute shop/cart', statements);
}

/** The first object of a YAML text, as one that is none of our business. */
export function skipped(text: string): ReportedObject {
  return skippedObject(firstOf(text, 'a.yaml'), 'Deployment cart');
}

function firstOf(text: string, file: string): SourceDocument {
  const [document] = parseDocuments(text, file).documents;
  if (document === undefined) throw new Error('there is no object');
  return document;
}

/** A problem of a file. */
export function problem(found: Partial<FileProblem>): ReportedProblem {
  return reportedProblem({ file: 'a.yaml', severity: 'error', message: 'it is broken', ...found });
}

/** A report of these objects. */
export async function* reportOf(...objects: readonly Reported[]): Report {
  yield* objects;
}

/** What a format makes of some objects, without colours. */
export async function written(format: ReportFormat, ...objects: readonly Reported[]): Promise<string> {
  return (await collect(format(reportOf(...objects), { style: (_style, text) => text, version: '1.2.3' }))).join('');
}
