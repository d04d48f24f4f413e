import type { JudgedFinding } from '../core/admission/judged-finding.ts';
import type { AdmissionPolicy } from '../core/admission/policy.ts';
import { storedJudgement } from '../core/admission/stored.ts';
import type { Reader } from '../core/incremental/reader.ts';
import { parseObject, type ParsedObject } from '../core/resources/parse.ts';
import { describeRef } from '../core/resources/reference.ts';
import { runToEnd } from '../core/text/steps.ts';
import type { SourceDocument } from '../files/document.ts';

/** A document that is not evaluated, and why. */
export interface Remark {
  readonly document: SourceDocument;
  /** `unserved`: see the rule unserved-kind. `foreign`: a kind of another project. `stray`: not an object, but a file of another tool. */
  readonly type: 'invalid' | 'unserved' | 'foreign' | 'stray';
  /** `HTTPRoute shop/cart`, or `document` if the object is unknown. */
  readonly name: string;
  readonly message: string;
}

/** Why a document is not evaluated. */
export function remarkOf(document: SourceDocument, parsed: Exclude<ParsedObject, { type: 'resource' }>): Remark {
  switch (parsed.type) {
    case 'invalid':
      return isManifest(document.value)
        ? { document, type: 'invalid', name: 'document', message: parsed.problem }
        : { document, type: 'stray', name: 'document', message: 'not a Kubernetes object; ignored.' };
    case 'unserved':
      return { document, type: 'unserved', name: describeRef(parsed.ref), message: '' };
    case 'foreign':
      return { document, type: 'foreign', name: describeRef(parsed.ref), message: 'not a Gateway API kind; ignored.' };
  }
}

/** Other tools keep YAML and JSON next to manifests: Chart.yaml, values.yaml, package.json. */
function isManifest(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['kind', 'metadata', 'spec'].some((name) => Object.hasOwn(value, name))
  );
}

/** Findings of the bundle for an object whose kind is not evaluated. None for other kinds. */
export function judgeUnserved(
  read: Reader,
  document: SourceDocument,
  policy: AdmissionPolicy,
): readonly JudgedFinding[] {
  if (parseObject(document.value).type !== 'unserved') return [];
  return runToEnd(storedJudgement(document.value, () => read, policy));
}
