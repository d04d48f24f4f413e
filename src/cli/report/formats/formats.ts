import type { FormatName } from './format-names.ts';
import { writeGithub } from './github.ts';
import { writeJson } from './json.ts';
import { writeJunit } from './junit.ts';
import type { ReportFormat } from '../report.ts';
import { writeSarif } from './sarif.ts';
import { writeText } from './text.ts';

export const formats: Readonly<Record<FormatName, ReportFormat>> = {
  text: writeText,
  json: writeJson,
  sarif: writeSarif,
  junit: writeJunit,
  github: writeGithub,
};
