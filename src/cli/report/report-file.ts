import { largeFile, readText } from '../../files/read-file.ts';
import { orUsageError, UsageError } from '../usage-error.ts';

/** Reads the JSON of an earlier report. @throws UsageError if the file cannot be read or is not JSON */
export async function readReportFile(file: string): Promise<unknown> {
  const text = await orUsageError(`the report ${file}`, readText(file, largeFile));
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`The report ${file} is not JSON. Create it with -o json.`);
  }
}
