import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CORE_SCHEMA, load, loadAll, mergeTag } from 'js-yaml';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** An object as `kubectl apply` would send it. */
export interface DeployedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** Objects by `kind namespace/name`. */
export type Rendered = ReadonlyMap<string, DeployedObject>;

/** Renders an overlay with components, all named by their folders below `deploy`. */
export async function renderKustomize(overlay: string, components: readonly string[] = []): Promise<Rendered> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-deploy-'));
  try {
    const place = (name: string) => relative(folder, join(root, 'deploy', name));
    await writeFile(
      join(folder, 'kustomization.yaml'),
      JSON.stringify({ resources: [place(overlay)], components: components.map(place) }),
    );
    return await render('kubectl', ['kustomize', folder]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Renders the chart; `values` as `--set` takes them. */
export function renderChart(helm: string, values: readonly string[] = []): Promise<Rendered> {
  return render(helm, [
    'template',
    'sallyport',
    join(root, 'deploy/chart/sallyport'),
    ...values.flatMap((value) => ['--set', value]),
  ]);
}

/**
 * Builds Helm where it was not built yet, which takes some minutes.
 *
 * @returns where it lies; `undefined` where it cannot be built, which continuous integration does not accept
 */
export async function findHelm(): Promise<string | undefined> {
  const building = spawn(join(root, 'tools/helm/build.sh'), { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output, [code]] = await Promise.all([text(building.stdout), once(building, 'close')]);
  return code === 0 ? output.trim() : refuse('Helm cannot be built');
}

/** Whether there is a kubectl to render with; continuous integration does not accept that there is none. */
export async function hasKubectl(): Promise<boolean> {
  try {
    await run('kubectl', ['version', '--client']);
    return true;
  } catch {
    return refuse('there is no kubectl') ?? false;
  }
}

function refuse(why: string): undefined {
  if (process.env['CI'] === 'true') throw new Error(`${why}, and what is deployed cannot be tested without`);
  process.stderr.write(`skipped: ${why}, so what is deployed is not tested\n`);
  return undefined;
}

async function render(command: string, args: readonly string[]): Promise<Rendered> {
  const { stdout } = await run(command, args, { maxBuffer: 64 * 1024 * 1024 });
  const objects = parseYaml(stdout).map(withReadSettings);
  return new Map(objects.map((object) => [keyOf(object), object]));
}

function keyOf({ kind, metadata }: DeployedObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}

const schema = CORE_SCHEMA.withTags(mergeTag);

function parseYaml(text: string): readonly DeployedObject[] {
  return (loadAll(text, { schema }) as readonly (DeployedObject | null)[]).filter((object) => object !== null);
}

/** Comments and order of keys mean nothing in the settings file. */
function withReadSettings(object: DeployedObject): DeployedObject {
  const data = object['data'] as { readonly 'settings.yaml'?: string } | undefined;
  const text = data?.['settings.yaml'];
  return text === undefined ? object : { ...object, data: { 'settings.yaml': load(text, { schema }) } };
}
