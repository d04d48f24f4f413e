import type { Path } from '../../resources/path.ts';
import { examine, type Bundle, type WrittenObject } from '../../schema/index.ts';
import { display } from '../../text/display.ts';
import { warned } from '../engine/effects.ts';
import type { Finding, Rule } from '../engine/rule.ts';
import { valueAt } from '../engine/site-judge.ts';

/** The API server drops such fields before it asks a webhook; what kubectl notes of an apply still has them. */
export const fieldPruned: Rule = {
  id: 'field-pruned',
  summary: 'The API server dropped a field of the applied object.',
  effect: warned,
  source: 'Kubernetes, "Custom Resources", field pruning; Gateway API v1.7.0, release channels (GEP-922)',
};

const noted: Path = ['metadata', 'annotations', 'kubectl.kubernetes.io/last-applied-configuration'];

/** What kubectl noted as applied, as text. */
export function lastApplied(json: unknown): string | undefined {
  const text = valueAt(json, noted);
  return typeof text === 'string' ? text : undefined;
}

/** The fields that were applied and that the bundle does not have. Never throws. */
export function prunedFields({ kind, apiVersion, json }: WrittenObject, bundle: Bundle): readonly Finding[] {
  const applied = parsed(lastApplied(json));
  if (valueAt(applied, ['kind']) !== kind || valueAt(applied, ['apiVersion']) !== apiVersion) return [];
  const dropped = examine({ kind, apiVersion, json: applied }, bundle).problems.filter(({ keyword, path }) => keyword === 'unknown' && valueAt(json, path) === undefined);
  return dropped.map(({ path, message }): Finding => ({ rule: fieldPruned.id, path, message: `Field ${display(String(path.at(-1)))} was applied, but it ${message}${/[.?]$/.test(message) ? '' : '.'}` }));
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
