import { recordOf } from './json.ts';
import { dataPlaneName } from './names.ts';
import type { ObjectChange, WireObject } from './ports.ts';
import { troublesOfDeployment, troublesOfPod, type Trouble } from './troubles.ts';

export interface CapacityOptions {
  /** Called with the Gateway whose troubles have changed. */
  readonly onChange: (gateway: string) => void;
}

/** The Deployments and pods of data planes: whether what shall serve Gateways can. Gateways are named `namespace/name`. */
export class Capacity {
  /** `namespace/name` of a Deployment, by which its pods' ServiceAccount is called, too → object → what is wrong with it. */
  readonly #troubles = new Map<string, Map<string, readonly Trouble[]>>();
  /** Deployment → Gateway. */
  readonly #gateways = new Map<string, string>();
  readonly #dataPlaneOf = new Map<string, string>();
  readonly #options: CapacityOptions;

  constructor(options: CapacityOptions) {
    this.#options = options;
  }

  /** From now on changes of this Gateway are told. */
  follow(gateway: string): void {
    this.#gateways.set(dataPlaneOf(gateway), gateway);
  }

  forget(gateway: string): void {
    this.#gateways.delete(dataPlaneOf(gateway));
  }

  /** What is wrong at present, the worst first. */
  troublesOf(gateway: string): readonly Trouble[] {
    const troubles = [...(this.#troubles.get(dataPlaneOf(gateway))?.values() ?? [])].flat();
    return troubles.toSorted((one, other) => Number(one.refusal === undefined) - Number(other.refusal === undefined) || (one.message < other.message ? -1 : 1));
  }

  /** An event about a Deployment or a pod of a data plane. */
  take(event: ObjectChange): void {
    const { kind, namespace, name } = event.ref;
    const object = `${kind}/${namespace}/${name}`;
    if (event.type === 'delete') {
      const dataPlane = this.#dataPlaneOf.get(object);
      this.#dataPlaneOf.delete(object);
      if (dataPlane !== undefined) this.#set(dataPlane, object, []);
      return;
    }
    const dataPlane = `${namespace}/${kind === 'Pod' ? serviceAccountOf(event.object) : name}`;
    this.#dataPlaneOf.set(object, dataPlane);
    this.#set(dataPlane, object, kind === 'Pod' ? troublesOfPod(event.object) : troublesOfDeployment(event.object));
  }

  #set(dataPlane: string, object: string, troubles: readonly Trouble[]): void {
    const known = this.#troubles.get(dataPlane) ?? new Map<string, readonly Trouble[]>();
    if (troubles.length === 0 && !known.has(object)) return;
    if (troubles.length > 0) known.set(object, troubles);
    else known.delete(object);
    if (known.size > 0) this.#troubles.set(dataPlane, known);
    else this.#troubles.delete(dataPlane);
    const gateway = this.#gateways.get(dataPlane);
    if (gateway !== undefined) this.#options.onChange(gateway);
  }
}

function dataPlaneOf(gateway: string): string {
  const [namespace = '', name = ''] = gateway.split('/');
  return `${namespace}/${dataPlaneName(name)}`;
}

function serviceAccountOf(pod: WireObject): string {
  const name = recordOf(pod['spec'])['serviceAccountName'];
  return typeof name === 'string' ? name : '';
}
