import { judgeByBundle } from '../../src/core/rules/engine/judge-by-bundle.ts';
import type { Finding } from '../../src/core/rules/engine/rule.ts';
import { examine, type Bundle, type SchemaKind, type StructureProblem } from '../../src/core/schema/index.ts';

/** In what an object differs from the schema of a bundle. */
export function refusedBySchema(
  kind: SchemaKind,
  apiVersion: string,
  json: unknown,
  bundle: Bundle,
): readonly StructureProblem[] {
  return examine({ kind, apiVersion, json }, bundle).problems;
}

/** What the rules of a bundle, its schema left out, refuse in an object. */
export function refusedByRules(
  kind: SchemaKind,
  apiVersion: string,
  json: unknown,
  bundle: Bundle,
): readonly Finding[] {
  const written = { kind, apiVersion, json };
  return judgeByBundle(written, examine(written, bundle), bundle).official;
}
