import { describe, expect, test } from '@jest/globals';
import { importsOf, resolveImport, trackedFiles } from './sources.ts';

// The import law: inside core each stage imports only what stands to its left. A folder beside core imports core and the
// folders that the table lists for it. The command line connects all folders.

/** The stages of core from left to right. The three before the last emit; none of them knows another. */
const stages: readonly (readonly string[])[] = [
  ['text'],
  ['patterns'],
  ['schema'],
  ['resources'],
  ['semantics'],
  ['incremental'],
  ['graph'],
  ['rules'],
  ['admission', 'status', 'routing'],
  ['impact', 'preflight'],
];

/** Which folders beside core may know which others, core and themselves apart. A new folder needs a row. */
const beside: Readonly<Record<string, readonly string[]>> = {
  time: [],
  fairness: [],
  telemetry: [],
  handshakes: ['time', 'fairness'],
  certificates: ['time', 'telemetry', 'files'],
  channel: ['time', 'fairness', 'telemetry', 'handshakes'],
  files: ['time', 'telemetry'],
  kubernetes: ['time', 'fairness', 'telemetry', 'files'],
  facts: ['certificates'],
  cluster: ['time', 'telemetry', 'certificates', 'channel', 'kubernetes', 'controller', 'facts'],
  workspace: ['files', 'facts'],
  sources: ['files', 'kubernetes', 'cluster'],
  webhook: ['time', 'fairness', 'telemetry', 'handshakes', 'certificates', 'kubernetes', 'cluster'],
  proxy: ['time', 'fairness', 'telemetry', 'handshakes', 'certificates', 'channel'],
  controller: ['time', 'fairness', 'telemetry', 'certificates', 'channel'],
  library: ['certificates', 'files'],
  cli: [
    'time',
    'telemetry',
    'certificates',
    'channel',
    'files',
    'kubernetes',
    'cluster',
    'workspace',
    'sources',
    'webhook',
    'proxy',
    'controller',
  ],
};

/**
 * The folders of proxy from the foundation up. A folder imports the folders before its own row. The files in proxy itself put
 * the folders together; their types (the context that a data plane shares) may be imported by all.
 */
const proxyFolders: readonly (readonly string[])[] = [
  ['limits'],
  ['sockets'],
  ['listen'],
  ['messages'],
  ['proxy-protocol', 'frames'],
  ['upstream'],
  ['sessions'],
  ['layer4', 'handling'],
  ['http1', 'http2'],
  ['workers'],
];

/** Packages that core may use, and where. */
const corePackages: Readonly<Record<string, readonly string[]>> = { ajv: ['schema'] };

interface Import {
  readonly file: string;
  readonly specifier: string;
  /** Path from the root, for imports of our own files. */
  readonly target: string | undefined;
}

const sources = trackedFiles().filter((file) => file.startsWith('src/') && file.endsWith('.ts'));
const imports: readonly Import[] = sources.flatMap((file) =>
  importsOf(file).map((specifier) => ({
    file,
    specifier,
    target: specifier.startsWith('.') ? resolveImport(file, specifier) : undefined,
  })),
);

function folderOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** The stage of a file of core by its folder; what stands in core itself puts all stages together. */
function stageOf(path: string): number {
  const [, , folder = '', file] = path.split('/');
  return file === undefined ? stages.length : stages.findIndex((stage) => stage.includes(folder));
}

function show({ file, specifier }: Import): string {
  return `${file} imports ${specifier}`;
}

describe('imports', () => {
  test('are found at all', () => {
    expect(imports.length).toBeGreaterThan(sources.length);
    expect(imports.filter(({ target }) => target !== undefined && folderOf(target) === 'core').length).toBeGreaterThan(
      50,
    );
  });

  test('of our own files are relative, with their ending, and stay inside src', () => {
    const odd = imports.filter(
      ({ target }) => target !== undefined && (!/\.(?:ts|js)$/.test(target) || !target.startsWith('src/')),
    );
    expect(odd.map(show)).toEqual([]);
  });

  test('in core go from right to left', () => {
    const wrong = imports.filter(({ file, target }) => {
      if (folderOf(file) !== 'core' || target === undefined) return false;
      if (folderOf(target) !== 'core' || stageOf(target) === -1) return true;
      const sameFolder = file.split('/')[2] === target.split('/')[2];
      return stageOf(target) > stageOf(file) || (stageOf(target) === stageOf(file) && !sameFolder);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('in core name no part of Node, and no package beyond those it may use', () => {
    const wrong = imports.filter(({ file, specifier, target }) => {
      if (folderOf(file) !== 'core' || target !== undefined) return false;
      const [name = ''] = specifier.split('/');
      return !(corePackages[name] ?? []).includes(file.split('/')[2] ?? '');
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('beside core know only what the table says', () => {
    const wrong = imports.filter(({ file, target }) => {
      const [from, to] = [folderOf(file), folderOf(target ?? '')];
      if (target === undefined || from === 'core' || from === to || to === 'core' || file === 'src/main.ts')
        return false;
      return !(beside[from] ?? []).includes(to);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('in proxy go from the upper folders to the lower ones', () => {
    const row = (path: string): number =>
      proxyFolders.findIndex((folders) => folders.includes(path.split('/').slice(2, -1)[0] ?? ''));
    const inProxy = imports.filter(
      ({ file, target }) => folderOf(file) === 'proxy' && folderOf(target ?? '') === 'proxy',
    );
    const wrong = inProxy.filter(({ file, target = '' }) => {
      const [from, to] = [file, target].map((path) => path.split('/'));
      if (from?.length === 3 || to?.length === 3) return false;
      return row(target) === -1 || (from?.[2] !== to?.[2] && row(target) >= row(file));
    });
    expect(wrong.map(show)).toEqual([]);
    expect(inProxy.length).toBeGreaterThan(100);
  });

  test('do not form circles, types included', () => {
    const targets = new Map<string, Set<string>>();
    for (const { file, target } of imports) {
      if (target === undefined) continue;
      targets.set(file, (targets.get(file) ?? new Set()).add(target));
    }
    // A file that imports no other file of the rest, or that none of them imports, is in no circle.
    const rest = new Set(sources);
    for (let size = -1; size !== rest.size;) {
      size = rest.size;
      const imported = new Set([...rest].flatMap((file) => [...(targets.get(file) ?? [])]));
      for (const file of rest) {
        const importsOthers = [...(targets.get(file) ?? [])].some((target) => rest.has(target));
        if (!importsOthers || !imported.has(file)) rest.delete(file);
      }
    }
    expect([...rest]).toEqual([]);
  });

  test('every folder has its row', () => {
    const folders = new Set(sources.filter((file) => file !== 'src/main.ts').map(folderOf));
    expect([...folders].filter((folder) => folder !== 'core' && !Object.hasOwn(beside, folder))).toEqual([]);
  });

  test('nothing imports main.ts, which knows the command line only', () => {
    expect(imports.filter(({ target }) => target === 'src/main.ts').map(show)).toEqual([]);
    expect(
      imports
        .filter(({ file, target }) => file === 'src/main.ts' && target !== undefined && folderOf(target) !== 'cli')
        .map(show),
    ).toEqual([]);
  });
});
