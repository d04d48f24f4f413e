import type { Path } from '../../resources/path.ts';
import { examine, type Bundle, type WrittenObject } from '../../schema/index.ts';
import { display } from '../../text/display.ts';
import { isPresent, valueAt } from '../../text/record.ts';
import { warned } from '../engine/effects.ts';
import type { Finding, Rule } from '../engine/rule.ts';

/** The API server drops such fields before it calls a webhook. The annotation of kubectl apply still has them. */
export const fieldPruned: Rule = {
  id: 'field-pruned',
  summary: 'The API server dropped a field of the applied object.',
  effect: warned,
  source: 'Kubernetes, "Custom Resources", field pruning; Gateway API v1.7.0, release channels (GEP-922)',
};

const lastAppliedPath: Path = ['metadata', 'annotations', 'kubectl.kubernetes.io/last-applied-configuration'];

/** The limit of all annotations of an object. The API server never sends longer ones, and they would take long to read. */
const longestAnnotation = 256 * 1024;

/** Returns the text of the last applied configuration that kubectl recorded; `undefined` if there is none. */
export function lastApplied(json: unknown): string | undefined {
  const text = valueAt(json, lastAppliedPath);
  return typeof text === 'string' && text.length <= longestAnnotation ? text : undefined;
}

/** Returns findings about fields that were applied, but that the bundle does not have. Never throws. */
export function prunedFields({ kind, apiVersion, json }: WrittenObject, bundle: Bundle): readonly Finding[] {
  const applied = parsed(lastApplied(json));
  if (valueAt(applied, ['kind']) !== kind || valueAt(applied, ['apiVersion']) !== apiVersion) return [];
  const dropped = examine({ kind, apiVersion, json: applied }, bundle).problems.filter(
    ({ keyword, path }) => keyword === 'unknown' && !isPresent(valueAt(json, path)),
  );
  return dropped.map(({ path, message }): Finding => ({
    rule: fieldPruned.id,
    path,
    message: `The stored object lacks the applied field ${display(String(path.at(-1)))}. ${message}`,
  }));
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
