/**
 * A place inside an object: property names and list positions, e.g. `['spec', 'rules', 0, 'filters', 1, 'type']`.
 */
export type Path = readonly (string | number)[];

const plainName = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;

/**
 * The Kubernetes spelling of a path: `spec.rules[0].filters[1].type`. Map keys that are no plain names are
 * bracketed and quoted: `metadata.labels["example.com/a"]`.
 */
export function formatPath(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (!plainName.test(part)) text += `[${JSON.stringify(part)}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}

/** Whether `path` is `ancestor` itself or lies below it. */
export function isWithin(path: Path, ancestor: Path): boolean {
  return path.length >= ancestor.length && ancestor.every((part, position) => part === path[position]);
}

/** Paths, to be asked about others in a time that does not depend on how many they are. */
export class PathSet {
  readonly #paths = new Set<string>();
  /** The paths and all that they lie in. */
  readonly #ancestors = new Set<string>();

  constructor(paths: readonly Path[]) {
    for (const path of paths) {
      this.#paths.add(JSON.stringify(path));
      for (let length = path.length; length >= 0; length -= 1) {
        const key = JSON.stringify(path.slice(0, length));
        if (this.#ancestors.has(key)) break;
        this.#ancestors.add(key);
      }
    }
  }

  /** Whether `path` is one of them or lies below one. */
  covers(path: Path): boolean {
    for (let length = path.length; length >= 0; length -= 1) if (this.#paths.has(JSON.stringify(path.slice(0, length)))) return true;
    return false;
  }

  /** Whether `path` is one of them, or one lies below it. */
  hasWithin(path: Path): boolean {
    return this.#ancestors.has(JSON.stringify(path));
  }

  /** Whether `path` is one of them, lies below one, or one lies below it. */
  meets(path: Path): boolean {
    return this.hasWithin(path) || this.covers(path);
  }
}
