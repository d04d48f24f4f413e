import { isBuiltin } from 'node:module';
import { resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** Name of a bundle, without extension → file. */
export type EntryPoints = Readonly<Record<string, string>>;

/**
 * Bundles programs of the project with their packages, as ES modules. One bundle starts three times as fast as many files. A lazy
 * import becomes a separate chunk, which costs nothing until it is used.
 *
 * @param groups entry points of a group share chunks. An import of another group remains an import of that bundle, and both groups
 *   have their own copy of shared modules, including classes, so that `instanceof` does not work between groups
 */
export async function bundle(groups: readonly EntryPoints[], outdir: string): Promise<void> {
  for (const group of groups) {
    const others = Object.assign({}, ...groups.filter((other) => other !== group)) as EntryPoints;
    await build({
      entryPoints: { ...group },
      outdir,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node22.19',
      // Prefers ES modules of packages: CommonJS hides the names that a lazy import uses.
      mainFields: ['module', 'main'],
      sourcemap: 'linked',
      sourcesContent: false,
      // Node keeps the text of a program in memory, in two bytes for each character if a comment holds one beyond Latin-1.
      minifyWhitespace: true,
      lineLimit: 120,
      logLevel: 'warning',
      plugins: [apart(others), nodeModulesInCommonJs, lazyHttp, withoutTracing],
    });
  }
}

/** Keeps imports of entry points in other groups external. */
function apart(entryPoints: EntryPoints): Plugin {
  const names = new Map(Object.entries(entryPoints).map(([name, file]) => [resolve(file), name]));
  return {
    name: 'apart',
    setup(bundler) {
      bundler.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
        const name = names.get(resolve(resolveDir, path));
        return name === undefined ? undefined : { path: `./${name}.js`, external: true };
      });
    },
  };
}

/** CommonJS packages call require() for Node's built-in modules, which ES modules do not have. */
const nodeModulesInCommonJs: Plugin = {
  name: 'node-modules-in-commonjs',
  setup(bundler) {
    bundler.onResolve({ filter: /./, namespace: 'file' }, ({ kind, path }) =>
      kind === 'require-call' && isBuiltin(path) ? { path, namespace: 'node' } : undefined,
    );
    bundler.onLoad({ filter: /./, namespace: 'node' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/**
 * An import of `node:http` as an ES module reads all of its exports. Three of them (WebSocket and its events) load the HTTP client of
 * Node, which nothing uses and which takes 13 MiB.
 */
const lazyHttp: Plugin = {
  name: 'lazy-http',
  setup(bundler) {
    bundler.onResolve({ filter: /^(node:)?http$/ }, ({ kind, path }) =>
      kind === 'import-statement' ? { path, namespace: 'node' } : undefined,
    );
  },
};

/** prom-client reads the current span for exemplars only, which nothing enables. The package of spans takes 1 MiB in each process. */
const withoutTracing: Plugin = {
  name: 'without-tracing',
  setup(bundler) {
    bundler.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path }) => ({ path, namespace: 'nothing' }));
    bundler.onLoad({ filter: /./, namespace: 'nothing' }, () => ({ contents: 'module.exports = {};' }));
  },
};
