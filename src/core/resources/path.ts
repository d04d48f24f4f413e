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
      let key = '';
      this.#ancestors.add(key);
      for (const part of path) {
        key = keyBelow(key, part);
        this.#ancestors.add(key);
      }
      this.#paths.add(key);
    }
  }

  /** Whether `path` is one of them or lies below one. */
  covers(path: Path): boolean {
    let key = '';
    if (this.#paths.has(key)) return true;
    for (const part of path) {
      key = keyBelow(key, part);
      if (!this.#ancestors.has(key)) return false;
      if (this.#paths.has(key)) return true;
    }
    return false;
  }

  /** Whether `path` is one of them, or one lies below it. */
  hasWithin(path: Path): boolean {
    return this.#ancestors.has(path.reduce<string>(keyBelow, ''));
  }

  /** Whether `path` is one of them, lies below one, or one lies below it. */
  meets(path: Path): boolean {
    return this.hasWithin(path) || this.covers(path);
  }
}

/** The key of a place below another: no other place has the same. */
function keyBelow(key: string, part: string | number): string {
  return typeof part === 'number' ? `${key}[${part}]` : `${key}.${part.length}:${part}`;
}
