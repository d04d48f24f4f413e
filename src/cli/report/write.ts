import type { Progress } from '../progress.ts';
import type { FormatName } from './formats/format-names.ts';
import { formats } from './formats/formats.ts';
import { counted, nothing, type Report, type Reported, type ReportSetting, type Tally } from './report.ts';

/** How to write a report. */
export interface Writing {
  readonly output: FormatName;
  readonly setting: ReportSetting;
  /** The progress display, which is cleared before any output. */
  readonly progress: Progress;
}

/** Writes a report to standard output as it is produced. @returns the counts */
export async function writeReport(report: Report, { output, setting, progress }: Writing): Promise<Tally> {
  let tally = nothing;
  const pieces = formats[output](
    observed(report, (object) => {
      tally = counted(tally, object);
    }),
    setting,
  );
  for await (const block of blocksOf(pieces)) {
    progress.clear();
    process.stdout.write(block);
  }
  progress.clear();
  return tally;
}

async function* observed(report: Report, look: (object: Reported) => void): Report {
  for await (const object of report) {
    look(object);
    yield object;
  }
}

/** Characters per write. */
const blockSize = 16_384;

async function* blocksOf(pieces: AsyncIterable<string>): AsyncIterable<string> {
  let block = '';
  for await (const piece of pieces) {
    block += piece;
    if (block.length < blockSize) continue;
    yield block;
    block = '';
  }
  yield block;
}
