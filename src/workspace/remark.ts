import { judgeUnevaluated } from '../core/admission/judge.ts';
import type { JudgedFinding } from '../core/admission/judged-finding.ts';
import type { AdmissionPolicy } from '../core/admission/policy.ts';
import type { Reader } from '../core/incremental/reader.ts';
import { parseObject, type ParsedObject } from '../core/resources/parse.ts';
import { describeRef } from '../core/resources/reference.ts';
import { isSchemaKind } from '../core/schema/index.ts';
import type { SourceDocument } from '../files/document.ts';

/** Something in the files that takes no part in evaluation, and why. */
export interface Remark {
  readonly document: SourceDocument;
  /** `unserved`: the rule unserved-kind says so. `foreign`: somebody else's kind. `stray`: no object at all, but something that other tools keep beside manifests. */
  readonly type: 'invalid' | 'unserved' | 'foreign' | 'stray';
  /** `HTTPRoute shop/cart`; `document` where that cannot be told. */
  readonly name: string;
  readonly message: string;
}

/** Why a document takes no part. */
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

/** Other tools keep YAML and JSON beside manifests: Chart.yaml, values.yaml, package.json. */
function isManifest(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ['kind', 'metadata', 'spec'].some((name) => Object.hasOwn(value, name));
}

/** What the bundle says of an object whose kind takes no part in evaluation; nothing for other kinds. */
export function judgeUnserved(read: Reader, document: SourceDocument, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const parsed = parseObject(document.value);
  if (parsed.type !== 'unserved' || !isSchemaKind(parsed.ref.kind)) return [];
  return judgeUnevaluated(read, { kind: parsed.ref.kind, apiVersion: parsed.apiVersion, json: document.value }, policy);
}
