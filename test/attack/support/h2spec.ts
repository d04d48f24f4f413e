import { execFile } from 'node:child_process';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const version = 'v2.2.1+incompatible';
const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sallyport-attack', 'go');
const program = join(folder, `h2spec-${version}`, 'h2spec');

/** The path of h2spec, built from its Go module where it is not there yet; `undefined` where Go is missing. */
export async function findH2spec(): Promise<string | undefined> {
  if (await works(access(program))) return program;
  if (!(await works(run('go', ['version'])))) return undefined;
  const env = {
    ...process.env,
    GOBIN: join(program, '..'),
    GOMODCACHE: join(folder, 'mod'),
    GOCACHE: join(folder, 'build'),
    CGO_ENABLED: '0',
    GOFLAGS: '-trimpath -buildvcs=false -modcacherw',
  };
  await run('go', ['install', `github.com/summerwind/h2spec/cmd/h2spec@${version}`], { env, timeout: 600_000 });
  return program;
}

/** Runs all cases of h2spec, strict ones included, against a port of loopback; returns how many ran, and the titles of those that failed. */
export async function runH2spec(
  path: string,
  port: number,
  options: readonly string[] = [],
): Promise<{ cases: number; failed: string[] }> {
  const reports = await mkdtemp(join(tmpdir(), 'sallyport-h2spec-'));
  const report = join(reports, 'report.xml');
  try {
    // It ends with 1 where a case fails; the report says which.
    await works(
      run(path, ['--strict', '-h', '127.0.0.1', '-p', String(port), '-o', '2', '-j', report, ...options], {
        timeout: 300_000,
        maxBuffer: 2 ** 26,
      }),
    );
    const xml = await readFile(report, 'latin1');
    const found = [
      ...xml.matchAll(
        /<testcase package="(?<section>[^"]*)" classname="(?<title>[^"]*)"[^>]*>(?<content>[^]*?)<\/testcase>/g,
      ),
    ].map(({ groups }) => groups ?? {});
    const failed = found.filter(({ content = '' }) => /<(?:error|failure)/.test(content));
    return { cases: found.length, failed: failed.map(({ section, title }) => `${section}: ${title}`) };
  } finally {
    await rm(reports, { recursive: true, force: true });
  }
}

async function works(attempt: Promise<unknown>): Promise<boolean> {
  try {
    await attempt;
    return true;
  } catch {
    return false;
  }
}
