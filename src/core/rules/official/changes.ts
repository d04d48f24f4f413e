import type { Path } from '../../resources/path.ts';
import type { SchemaKind } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { controllerNameChanged } from '../gateways/controller-name-changed.ts';
import type { Finding } from '../engine/rule.ts';

/** The immutable fields of every bundle that has the kind. */
export const immutableFields: { readonly [K in SchemaKind]?: Path } = {
  GatewayClass: ['spec', 'controllerName'],
  XMesh: ['spec', 'controllerName'],
};

/** Finds changes of an object that the API server rejects with every bundle. Never throws. */
export function judgeChange(kind: SchemaKind, before: unknown, after: unknown): readonly Finding[] {
  const path = immutableFields[kind];
  const [old, now] = [textAt(before, path), textAt(after, path)];
  if (path === undefined || old === undefined || now === undefined || old === now) return [];
  const message = `controllerName is immutable: it was ${quote(old)}. Create another ${kind} with the new controllerName, and refer to that one.`;
  return [{ rule: controllerNameChanged.id, path, value: display(now), message }];
}

function textAt(json: unknown, path: Path = []): string | undefined {
  const value = path.reduce<unknown>(
    (current, part) =>
      typeof current === 'object' && current !== null && Object.hasOwn(current, part)
        ? (current as Readonly<Record<string, unknown>>)[part]
        : undefined,
    json,
  );
  return typeof value === 'string' ? value : undefined;
}
