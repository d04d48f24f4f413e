import { isJson, record, Refusal, textOf, type Json } from './object.ts';

/** RFC 7396. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return patch;
  const result = { ...record(target) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

/** RFC 6902, as far as tests need it: add, remove, replace, test; `-` appends. */
export function jsonPatch(target: Json, steps: unknown): Json {
  const result = structuredClone(target);
  for (const step of Array.isArray(steps) ? steps.map(record) : []) applyStep(result, step);
  return result;
}

function applyStep(root: Json, { op, path, value }: Json): void {
  const keys = textOf(path)
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = keys.pop() ?? '';
  let parent: unknown = root;
  for (const key of keys) parent = child(parent, key);
  if (op === 'test') {
    if (JSON.stringify(child(parent, last)) !== JSON.stringify(value)) throw unprocessable('testing value failed');
  } else if (Array.isArray(parent)) editList(parent, last, { op, value });
  else if (!isJson(parent)) throw unprocessable('path does not exist');
  else if (op === 'remove') delete parent[last];
  else parent[last] = value;
}

function editList(list: unknown[], key: string, { op, value }: Json): void {
  const index = key === '-' ? list.length : Number(key);
  if (op === 'add') list.splice(index, 0, value);
  else if (op === 'remove') list.splice(index, 1);
  else list[index] = value;
}

function child(parent: unknown, key: string): unknown {
  if (Array.isArray(parent)) return (parent as unknown[])[Number(key)];
  return isJson(parent) ? parent[key] : undefined;
}

function unprocessable(message: string): Refusal {
  return new Refusal(422, 'Invalid', message);
}
