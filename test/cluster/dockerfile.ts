/** What the last stage of a Dockerfile adds to its base image. */
export interface FinalStage {
  readonly copies: readonly Copy[];
  readonly user: string;
  readonly workingDirectory: string;
  /** NAME=value each. */
  readonly environment: readonly string[];
  readonly entrypoint: readonly string[];
}

export interface Copy {
  /** Paths below the project's root; the last part may hold `*`. */
  readonly sources: readonly string[];
  /** An absolute path; that of a folder ends with a slash. */
  readonly destination: string;
}

/** What the stages before the last one do to the project. */
export interface BuildSteps {
  /** Shell commands, run one after the other in the project's root. */
  readonly commands: readonly string[];
}

/**
 * Reads the stages before the last one, of the little that ours uses: the whole project is copied to WORKDIR, then commands run there.
 * Throws where there is something else, or the last stage runs a command.
 */
export function readBuildSteps(dockerfile: string): BuildSteps {
  const instructions = readInstructions(dockerfile);
  const commands: string[] = [];
  let hasProject = false;
  for (const { name, rest } of instructions.slice(
    0,
    instructions.findLastIndex((one) => one.name === 'FROM'),
  )) {
    if (name === 'COPY' && rest === '. .') hasProject = true;
    else if (name === 'RUN' && hasProject && !rest.startsWith('[') && !rest.startsWith('--')) commands.push(rest);
    else if (name !== 'FROM' && name !== 'WORKDIR')
      throw new Error(`${name} ${rest} in an earlier stage: only COPY . . and then RUN COMMAND are understood`);
  }
  return { commands };
}

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/**
 * Reads the last stage of a Dockerfile, of the little that ours uses. What is not understood throws, so that no image is
 * made that differs from the one that the Dockerfile describes. Earlier stages must work on the project's root.
 */
export function readFinalStage(dockerfile: string): FinalStage {
  const instructions = readInstructions(dockerfile);
  const start = instructions.findLastIndex(({ name }) => name === 'FROM');
  const roots = rootsOfStages(instructions.slice(0, start));
  const stage = {
    copies: [] as Copy[],
    user: 'root',
    workingDirectory: '/',
    environment: [] as string[],
    entrypoint: [] as string[],
  };
  for (const { name, rest } of instructions.slice(start + 1)) {
    switch (name) {
      case 'COPY':
        stage.copies.push(readCopy(rest, roots, stage.workingDirectory));
        break;
      case 'WORKDIR':
        stage.workingDirectory = rest;
        break;
      case 'USER':
        stage.user = rest;
        break;
      case 'ENV':
        stage.environment.push(...rest.split(/\s+/));
        break;
      case 'ENTRYPOINT':
        stage.entrypoint = JSON.parse(rest) as string[];
        break;
      case 'EXPOSE':
      case 'LABEL':
        break;
      default:
        throw new Error(
          `${name} in the last stage: only COPY, WORKDIR, USER, ENV, ENTRYPOINT, EXPOSE and LABEL are understood`,
        );
    }
  }
  return stage;
}

function readInstructions(dockerfile: string): readonly Instruction[] {
  const lines = dockerfile
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.trim().split(/\s+/);
      return { name: name.toUpperCase(), rest: rest.join(' ') };
    });
}

/** Where each earlier stage keeps the project: its name -> its WORKDIR. */
function rootsOfStages(instructions: readonly Instruction[]): ReadonlyMap<string, string> {
  const roots = new Map<string, string>();
  let stage = '';
  for (const { name, rest } of instructions) {
    if (name === 'FROM') stage = / AS (\S+)$/i.exec(rest)?.[1] ?? '';
    if (name === 'WORKDIR') roots.set(stage, rest);
  }
  return roots;
}

function readCopy(rest: string, roots: ReadonlyMap<string, string>, workingDirectory: string): Copy {
  const words = rest.split(' ');
  const root = roots.get(/^--from=(\S+)$/.exec(words[0] ?? '')?.[1] ?? '');
  if (root === undefined)
    throw new Error(`COPY ${rest}: write COPY --from=STAGE, where STAGE is an earlier stage with a WORKDIR`);
  const sources = words.slice(1, -1).map((source) => {
    if (!source.startsWith(`${root}/`) || source.endsWith('/'))
      throw new Error(`COPY ${rest}: ${source} must be a file (or files, with *) below ${root}`);
    return source.slice(root.length + 1);
  });
  const destination = words.at(-1) ?? '';
  return {
    sources,
    destination: destination.startsWith('/') ? destination : `${workingDirectory}/${destination.replace(/^\.\//, '')}`,
  };
}
