/**
 * Packs the project's image without a builder: node project-image.ts OUT.tar REFERENCE[,REFERENCE...]
 * What deploy/Dockerfile copies, on top of a Node with its libraries instead of the base image. Wants a built project.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readFinalStage, type Copy } from './dockerfile.ts';
import { writeOciArchive, type Entry } from './oci-archive.ts';

const [out, references] = process.argv.slice(2);
if (out === undefined || references === undefined)
  throw new Error('usage: project-image.ts OUT.tar REFERENCE[,REFERENCE...]');
const root = join(import.meta.dirname, '../..');
const stage = readFinalStage(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8'));
const [node] = stage.entrypoint;
if (node === undefined) throw new Error('deploy/Dockerfile has no ENTRYPOINT');

writeOciArchive(out, references.split(','), {
  config: {
    Entrypoint: stage.entrypoint,
    Env: stage.environment,
    User: stage.user,
    WorkingDir: stage.workingDirectory,
  },
  layer: [entry(process.execPath, node), ...librariesOf(process.execPath), ...stage.copies.flatMap(copied)],
});

function copied({ sources, destination }: Copy): readonly Entry[] {
  const files = sources.flatMap((source) => {
    const found = globSync(source, { cwd: root }).sort();
    if (found.length === 0) throw new Error(`deploy/Dockerfile copies ${source}, which is not there`);
    return found;
  });
  return files.map((file) =>
    entry(join(root, file), destination.endsWith('/') ? destination + basename(file) : destination),
  );
}

/** What a program is linked with, its loader included, where the loader looks for it. */
function librariesOf(program: string): readonly Entry[] {
  const paths = execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  return [...new Set(paths)].sort().map((path) => entry(path, path));
}

function entry(source: string, destination: string): Entry {
  const file = realpathSync(source);
  const mode = (statSync(file).mode & 0o111) === 0 ? 0o644 : 0o755;
  return { path: destination.replace(/^\/+/, ''), mode, content: readFileSync(file) };
}
