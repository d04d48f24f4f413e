import { display, quote } from '../../text/display.ts';
import { unenforcedRule, type ReportViolation, type Violation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { isQualifiedName, isSubdomain } from './qualified-key.ts';
import type { WholeObject } from '../engine/written-object.ts';
import { withoutTrailing } from '../../text/trim.ts';

/** The API server rejects such objects before it calls a webhook. The rule is for validation of files. */
export const metadataSyntax = unenforcedRule(
  {
    id: 'metadata-syntax',
    summary: 'A name, namespace, label or annotation has invalid syntax.',
    effect: denied,
    source: 'Kubernetes, "Object Names and IDs", "Labels and Selectors" (syntax and character set) and "Annotations"',
  },
  function judge({ metadata: { name, namespace, labels, annotations } }: WholeObject, report) {
    if (name !== '' && !isSubdomain(name)) report(badName('name', name, isSubdomain));
    if (!isLabel(namespace)) report(badName('namespace', namespace, isLabel));
    judgeEntries('labels', labels, report);
    judgeEntries('annotations', annotations, report);
  },
);

const label = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

function isLabel(text: string): boolean {
  return label.test(text);
}

/** Names that are longer by far have no correction: it would need work on texts of megabytes. */
const mostCorrected = 1_024;

function badName(field: 'name' | 'namespace', text: string, isValid: (text: string) => boolean): Violation {
  const near = text.length > mostCorrected ? '' : correctedName(text);
  const [most, signs] = field === 'name' ? [253, '-, . and'] : [63, '- and'];
  const cure = isValid(near)
    ? `Use ${quote(near)}`
    : `Use at most ${most} lower-case letters, digits, ${signs} nothing else, with a letter or digit at both ends`;
  return { below: ['metadata', field], value: display(text), message: `Invalid ${field} ${quote(text)}. ${cure}.` };
}

function correctedName(text: string): string {
  const near = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replace(/^[-.]+/, '');
  return withoutTrailing(near, '-.');
}

const labelValue = /^(?:(?:[A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$/;

function judgeEntries(field: 'labels' | 'annotations', entries: unknown, report: ReportViolation): void {
  if (typeof entries !== 'object' || entries === null || Array.isArray(entries)) return;
  for (const [key, value] of Object.entries(entries) as Iterable<[string, unknown]>) {
    const found = problemOf(field, key, value);
    if (found !== undefined)
      report({
        below: ['metadata', field, key],
        ...(typeof value === 'string' ? { value: display(value) } : {}),
        message: found,
      });
  }
}

function problemOf(field: 'labels' | 'annotations', key: string, value: unknown): string | undefined {
  // The domain prefix of an annotation key may contain upper case.
  if (!isQualifiedName(field === 'annotations' ? key.toLowerCase() : key)) {
    return `Invalid key ${quote(key)}. Use up to 63 letters, digits, "-", "_" and ".", with an optional domain prefix, for example team or example.com/team.`;
  }
  if (value === null) return undefined;
  if (typeof value === 'number' || typeof value === 'boolean')
    return `Value of ${quote(key)} must be a string. Put it in quotes: ${quote(String(value))}.`;
  if (typeof value !== 'string')
    return `Value of ${quote(key)} must be a string, not ${Array.isArray(value) ? 'a list' : 'an object'}. Put it in quotes.`;
  if (field === 'annotations' || labelValue.test(value)) return undefined;
  return `Invalid label value ${quote(value)}. Use at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends. Use annotations for longer texts.`;
}
