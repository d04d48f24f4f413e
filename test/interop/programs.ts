import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const here = import.meta.dirname;

/** Whether `go` is installed, which builds the programs. */
export function hasGo(): boolean {
  return spawnSync('go', ['version']).status === 0;
}

/**
 * The folder with the programs of the module in this folder. Builds them where the cache has none for its lock file (two minutes
 * with two cores, once).
 */
export function interopPrograms(): string {
  const key = createHash('sha256').update(readFileSync(join(here, 'go.mod'))).update(readFileSync(join(here, 'go.sum'))).digest('hex').slice(0, 16);
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sallyport', 'interop');
  const folder = join(cache, key);
  if (existsSync(folder)) return folder;
  const unfinished = join(cache, `${key}.${process.pid}`);
  mkdirSync(unfinished, { recursive: true });
  const packages = ['client', 'server'].map((name) => `google.golang.org/grpc/interop/${name}`);
  const built = spawnSync('go', ['-C', here, 'build', '-o', `${unfinished}/`, ...packages], { encoding: 'utf8', env: { ...process.env, CGO_ENABLED: '0' } });
  if (built.status !== 0) {
    rmSync(unfinished, { recursive: true });
    throw new Error(`The gRPC interop programs cannot be built: ${built.stderr}`);
  }
  if (existsSync(folder)) rmSync(unfinished, { recursive: true });
  else renameSync(unfinished, folder);
  return folder;
}
