/** A location inside an object: property names and list positions, e.g. `['spec', 'rules', 0, 'filters', 1, 'type']`. */
export type Path = readonly (string | number)[];

const plainName = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;

/**
 * Formats a path as in Kubernetes: `spec.rules[0].filters[1].type`. Map keys that are not plain names are quoted in
 * brackets: `metadata.labels["example.com/a"]`.
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

/** Whether `path` equals `ancestor` or lies below it. */
export function isWithin(path: Path, ancestor: Path): boolean {
  return path.length >= ancestor.length && ancestor.every((part, position) => part === path[position]);
}

/** A set of paths. The cost of a lookup does not depend on the size of the set. */
export class PathSet {
  private readonly paths = new Set<string>();
  /** The paths and all of their ancestors. */
  private readonly ancestors = new Set<string>();

  constructor(paths: readonly Path[]) {
    for (const path of paths) {
      let key = '';
      this.ancestors.add(key);
      for (const part of path) {
        key = keyBelow(key, part);
        this.ancestors.add(key);
      }
      this.paths.add(key);
    }
  }

  /** Whether `path` is in the set or lies below a member. */
  covers(path: Path): boolean {
    let key = '';
    if (this.paths.has(key)) return true;
    for (const part of path) {
      key = keyBelow(key, part);
      if (!this.ancestors.has(key)) return false;
      if (this.paths.has(key)) return true;
    }
    return false;
  }

  /** Whether `path` is in the set or a member lies below it. */
  hasWithin(path: Path): boolean {
    return this.ancestors.has(path.reduce<string>(keyBelow, ''));
  }

  /** Whether `path` is in the set, lies below a member, or has a member below it. */
  meets(path: Path): boolean {
    return this.hasWithin(path) || this.covers(path);
  }
}

/** The unique key of a location below another one. */
function keyBelow(key: string, part: string | number): string {
  return typeof part === 'number' ? `${key}[${part}]` : `${key}.${part.length}:${part}`;
}
