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

/** Programs in Go: the module with its lock file, the packages, and sources of our own. */
interface Programs {
  readonly module: string;
  readonly packages: readonly string[];
  readonly sources: readonly string[];
}

/** The folder with client and server of grpc-go's interop tests, and `authorizer`. Two minutes with two cores, once. */
export function interopPrograms(): string {
  const packages = ['client', 'server'].map((name) => `google.golang.org/grpc/interop/${name}`);
  return built({
    module: here,
    packages: [...packages, './authorizer'],
    sources: [join(here, 'authorizer', 'main.go')],
  });
}

/** The folder with `oauth2-proxy`. */
export function oauth2Proxy(): string {
  return built({
    module: join(here, 'oauth2-proxy'),
    packages: ['github.com/oauth2-proxy/oauth2-proxy/v7'],
    sources: [],
  });
}

/** The folder with `report-reader`, which reads policy reports with the Go types of their readers. */
export function reportReader(): string {
  const module = join(here, 'report-reader');
  return built({ module, packages: ['.'], sources: [join(module, 'main.go')] });
}

/** Builds programs where the cache has none for their lock file and sources. */
function built({ module, packages, sources }: Programs): string {
  const hash = createHash('sha256');
  for (const file of [join(module, 'go.mod'), join(module, 'go.sum'), ...sources]) hash.update(readFileSync(file));
  const key = hash.digest('hex').slice(0, 16);
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sallyport', 'interop');
  const folder = join(cache, key);
  if (existsSync(folder)) return folder;
  const unfinished = join(cache, `${key}.${process.pid}`);
  mkdirSync(unfinished, { recursive: true });
  const result = spawnSync('go', ['-C', module, 'build', '-o', `${unfinished}/`, ...packages], {
    encoding: 'utf8',
    env: { ...process.env, CGO_ENABLED: '0' },
  });
  if (result.status !== 0) {
    rmSync(unfinished, { recursive: true });
    throw new Error(`The programs ${packages.join(', ')} cannot be built: ${result.stderr}`);
  }
  if (existsSync(folder)) rmSync(unfinished, { recursive: true });
  else renameSync(unfinished, folder);
  return folder;
}
