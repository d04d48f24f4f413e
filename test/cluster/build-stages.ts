/**
 * Runs the stages of deploy/Dockerfile without Docker: node test/cluster/build-stages.ts
 * A copy of the checkout takes the place of COPY . ., the commands of RUN build it with this machine's Node, and the program of the last
 * stage starts from the files that this stage copies alone. Exit code 1 where a step fails.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { readBuildSteps, readFinalStage } from './dockerfile.ts';

const root = join(import.meta.dirname, '../..');
const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'sallyport-dockerfile-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const source = join(folder, 'src');
const image = join(folder, 'image');
copyProject();
for (const command of readBuildSteps(dockerfile).commands) {
  console.log(`RUN ${command}`);
  execFileSync('sh', ['-c', command], { cwd: source, stdio: 'inherit' });
}
start();

/** What git knows or would add: .dockerignore leaves out what git ignores, and git's own folder. */
function copyProject(): void {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
    .trimEnd()
    .split('\n');
  for (const file of files) {
    if (!existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(source, file)), { recursive: true });
    cpSync(join(root, file), join(source, file));
  }
}

/** Copies as the last stage does, and starts its program: it judges a file, and explains a rule. */
function start(): void {
  const { copies, entrypoint, environment } = readFinalStage(dockerfile);
  for (const { sources, destination } of copies) {
    for (const pattern of sources) {
      const found = globSync(pattern, { cwd: source });
      if (found.length === 0)
        throw new Error(`deploy/Dockerfile copies ${pattern}, which the earlier stages do not make`);
      for (const file of found)
        cpSync(join(source, file), join(image, destination.endsWith('/') ? destination + basename(file) : destination));
    }
  }
  const [, program = ''] = entrypoint;
  const env = Object.fromEntries(environment.map((entry) => entry.split(/=(.*)/s, 2)));
  for (const args of [
    ['check', join(root, 'examples/quickstart/00-gateways.yaml')],
    ['check', '--explain', 'backend-not-found'],
  ]) {
    console.log(`${program} ${args.join(' ')}`);
    execFileSync(process.execPath, [join(image, program), ...args], {
      cwd: image,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
}
