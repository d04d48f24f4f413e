import { isBuiltin } from 'node:module';
import { resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** Name of a bundle, without extension → file. */
export type EntryPoints = Readonly<Record<string, string>>;

/**
 * Bundles programs of the project and their packages, as ES modules. One bundle starts three times as fast as many
 * files do; what is imported lazily becomes a chunk of its own and costs nothing until it is used.
 *
 * @param groups entry points of a group share chunks. What one imports of another group stays an import of that bundle, and
 * both have their own copy of what they share: classes too, so that `instanceof` does not hold between groups
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
      // ES modules where a package has them: CommonJS hides the names that a lazy import takes.
      mainFields: ['module', 'main'],
      sourcemap: 'linked',
      sourcesContent: false,
      logLevel: 'warning',
      plugins: [apart(others), nodeModulesInCommonJs],
    });
  }
}

/** Leaves entry points of other groups where they are. */
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

/** Packages in CommonJS call require() for Node's own modules; ES modules have no such function. */
const nodeModulesInCommonJs: Plugin = {
  name: 'node-modules-in-commonjs',
  setup(bundler) {
    bundler.onResolve({ filter: /./, namespace: 'file' }, ({ kind, path }) =>
      (kind === 'require-call' && isBuiltin(path) ? { path, namespace: 'node' } : undefined));
    bundler.onLoad({ filter: /./, namespace: 'node' }, ({ path }) => ({ contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});` }));
  },
};
