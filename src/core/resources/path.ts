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
