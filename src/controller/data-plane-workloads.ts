import { keyOfRef, ofQualifiedName } from '../core/resources/reference.ts';
import { recordOf } from '../core/text/record.ts';
import { deploymentProblems, podProblems, type DataPlaneProblem } from './data-plane-problems.ts';
import { dataPlaneName } from './names.ts';
import type { ObjectChange, WireObject } from './ports.ts';

export interface DataPlaneWorkloadsOptions {
  /** Called with a Gateway when its problems have changed. */
  readonly onChange: (gateway: string) => void;
}

/** Tracks whether the Deployments and pods of data planes can serve their Gateways. Gateways are named `namespace/name`. */
export class DataPlaneWorkloads {
  /** `namespace/name` of a Deployment (its pods' ServiceAccount has the same name) → object → its problems. */
  private readonly problems = new Map<string, Map<string, readonly DataPlaneProblem[]>>();
  /** Deployment → Gateway. */
  private readonly gateways = new Map<string, string>();
  private readonly dataPlaneOf = new Map<string, string>();
  private readonly options: DataPlaneWorkloadsOptions;

  constructor(options: DataPlaneWorkloadsOptions) {
    this.options = options;
  }

  /** Reports changes of this Gateway from now on. */
  follow(gateway: string): void {
    this.gateways.set(dataPlaneOf(gateway), gateway);
  }

  forget(gateway: string): void {
    this.gateways.delete(dataPlaneOf(gateway));
  }

  /** The current problems, the most severe first. */
  problemsOf(gateway: string): readonly DataPlaneProblem[] {
    const problems = [...(this.problems.get(dataPlaneOf(gateway))?.values() ?? [])].flat();
    return problems.toSorted(
      (one, other) =>
        Number(one.refusal === undefined) - Number(other.refusal === undefined) ||
        (one.message < other.message ? -1 : 1),
    );
  }

  /** Takes events about objects of data planes. Ignores those that are neither Deployments nor pods. */
  observe(events: readonly ObjectChange[]): void {
    const workloads = events.filter(({ ref: { kind } }) => kind === 'Deployment' || kind === 'Pod');
    for (const dataPlane of new Set(workloads.flatMap((event) => this.record(event)))) {
      const gateway = this.gateways.get(dataPlane);
      if (gateway !== undefined) this.options.onChange(gateway);
    }
  }

  /** Returns the data planes whose problems may have changed. */
  private record(event: ObjectChange): readonly string[] {
    const { kind, namespace, name } = event.ref;
    const object = keyOfRef({ kind, namespace, name });
    if (event.type === 'delete') {
      const dataPlane = this.dataPlaneOf.get(object);
      this.dataPlaneOf.delete(object);
      return dataPlane === undefined ? [] : this.set(dataPlane, object, []);
    }
    const dataPlane = `${namespace}/${kind === 'Pod' ? serviceAccountOf(event.object) : name}`;
    this.dataPlaneOf.set(object, dataPlane);
    return this.set(dataPlane, object, kind === 'Pod' ? podProblems(event.object) : deploymentProblems(event.object));
  }

  private set(dataPlane: string, object: string, problems: readonly DataPlaneProblem[]): readonly string[] {
    const known = this.problems.get(dataPlane) ?? new Map<string, readonly DataPlaneProblem[]>();
    if (problems.length === 0 && !known.has(object)) return [];
    if (problems.length > 0) known.set(object, problems);
    else known.delete(object);
    if (known.size > 0) this.problems.set(dataPlane, known);
    else this.problems.delete(dataPlane);
    return [dataPlane];
  }
}

function dataPlaneOf(gateway: string): string {
  const { namespace, name } = ofQualifiedName(gateway);
  return `${namespace}/${dataPlaneName(name)}`;
}

function serviceAccountOf(pod: WireObject): string {
  const name = recordOf(pod['spec'])['serviceAccountName'];
  return typeof name === 'string' ? name : '';
}
