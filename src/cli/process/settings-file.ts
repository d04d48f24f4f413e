import { stat } from 'node:fs/promises';
import { readSettings } from '../../core/admission/read-settings.ts';
import { defaultSettings, type Settings } from '../../core/admission/settings.ts';
import { formatPath } from '../../core/resources/path.ts';
import { formatProblem, type FileProblem } from '../../files/document.ts';
import { readFolder, type FolderContent } from '../../files/folder.ts';
import { smallFile } from '../../files/read-file.ts';
import { watchFolder } from '../../files/watch.ts';
import type { Logger, Metrics } from '../../telemetry/index.ts';
import { UsageError } from '../usage-error.ts';

/** The current settings. */
export interface LiveSettings {
  current(): Settings;
  /** Calls `listener` after each change. */
  onChange(listener: () => void): void;
  close(): void;
}

interface Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Reads the settings file (YAML or JSON) and watches it. Later mistakes are logged and change nothing. The metric
 * `sallyport_settings_reload_failed` is 1 until they are fixed.
 *
 * @throws UsageError if the file is invalid at the start: all mistakes, one line each, as `file:line:column: setting: …`
 */
export function openSettings(file: string, telemetry: Telemetry): Promise<LiveSettings> {
  return open(file, telemetry, (content) => settingsIn(file, content));
}

/**
 * Like `openSettings`, for a file that need not exist: the defaults apply until it appears. If it is deleted later, the previous settings
 * stay in effect, because a mistake must not permit more than before.
 *
 * @throws UsageError like `openSettings`
 */
export function openOptionalSettings(file: string, telemetry: Telemetry): Promise<LiveSettings> {
  return open(file, telemetry, (content) =>
    content.problems.some(({ isMissing }) => isMissing) ? defaultSettings : settingsIn(file, content),
  );
}

async function open(
  file: string,
  { log, metrics }: Telemetry,
  initial: (content: FolderContent) => Settings,
): Promise<LiveSettings> {
  const failed = metrics
    .gauge({
      name: 'settings_reload_failed',
      help: 'Whether the settings file is invalid and the previous settings are in effect.',
      labels: [],
    })
    .at();
  const listeners = new Set<() => void>();
  await rejectOthers(file);
  const follow = async ({ documents, problems }: FolderContent): Promise<void> => {
    const problem = await notAFile(file);
    const read =
      problem === undefined ? readContent(file, { documents, problems }) : { ok: false as const, problems: [problem] };
    failed.value = read.ok ? 0 : 1;
    if (!read.ok)
      return log.error(
        { file, problems: read.problems.map(formatProblem) },
        'invalid settings file, the previous settings stay in effect',
      );
    settings = read.settings;
    log.info({ file, profile: settings.profile }, 'settings replaced');
    for (const listener of listeners) listener();
  };
  const watching = await watchFolder([file], follow, smallFile);
  let settings: Settings;
  try {
    settings = initial(watching.content);
  } catch (error) {
    watching.close();
    throw error;
  }
  return {
    current: () => settings,
    onChange: (listener) => void listeners.add(listener),
    close: () => watching.close(),
  };
}

/**
 * Reads the settings file once.
 *
 * @throws UsageError like `openSettings`
 */
export async function readSettingsFile(file: string): Promise<Settings> {
  await rejectOthers(file);
  return settingsIn(file, await readFolder([file], smallFile));
}

/**
 * Parses the content of a settings file.
 *
 * @param file its name, for messages
 * @throws UsageError like `openSettings`
 */
export function settingsIn(file: string, content: FolderContent): Settings {
  const read = readContent(file, content);
  if (read.ok) return read.settings;
  throw new UsageError(
    `invalid settings file:\n${read.problems.map((problem) => `  ${formatProblem(problem)}`).join('\n')}`,
  );
}

async function rejectOthers(file: string): Promise<void> {
  const problem = await notAFile(file);
  if (problem !== undefined) throw new UsageError(`invalid settings file:\n  ${formatProblem(problem)}`);
}

/** The problem of a path that exists and is not a file. The files of a folder would be read as settings, and an empty folder as an empty file. */
async function notAFile(file: string): Promise<FileProblem | undefined> {
  const info = await stat(file).catch(() => undefined);
  if (info === undefined || info.isFile()) return undefined;
  const message = info.isDirectory()
    ? 'a folder instead of a file; name the settings file in it'
    : 'not a regular file; replace it with a regular file';
  return { file, severity: 'error', message };
}

/** Problems of a file that are reported. Locating a problem takes a time that grows with the file. */
const maxProblems = 100;

type ReadFile =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

function readContent(file: string, { documents, problems }: FolderContent): ReadFile {
  // A warning in a list of objects (a value with another meaning in YAML 1.1) is an error here.
  if (problems.length > 0) return { ok: false, problems: shortened(file, problems, problems.length) };
  const [document, second] = documents;
  if (second !== undefined)
    return {
      ok: false,
      problems: [
        {
          file,
          severity: 'error',
          position: second.locate([]),
          message: 'unexpected second document: the settings are one document. Remove the line "---"',
        },
      ],
    };
  const read = readSettings(document?.value);
  if (read.ok) return read;
  const reported = read.problems.slice(0, maxProblems).map(({ path, message }): FileProblem => ({
    file,
    severity: 'error',
    ...(document === undefined ? {} : { position: document.locate(path) }),
    message: path.length === 0 ? message : `${formatPath(path)}: ${message}`,
  }));
  return { ok: false, problems: shortened(file, reported, read.problems.length) };
}

/** The first problems, and how many of `count` follow them. */
function shortened(file: string, problems: readonly FileProblem[], count: number): readonly FileProblem[] {
  const reported = problems.slice(0, maxProblems);
  const further = count - reported.length;
  return further === 0 ? reported : [...reported, { file, severity: 'error', message: `and ${further} more` }];
}
