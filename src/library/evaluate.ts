import { withHostnamePolicies } from '../core/admission/installation.ts';
import { judge, judgeUnevaluated } from '../core/admission/judge.ts';
import type { JudgedFinding } from '../core/admission/judged-finding.ts';
import type { AdmissionPolicy } from '../core/admission/policy.ts';
import { createLoneJudge } from '../core/admission/judge-alone.ts';
import { featuresOf } from '../core/admission/class-features.ts';
import { readDocument, type ReadDocument } from '../core/admission/candidate.ts';
import { certificateFacts } from '../certificates/facts.ts';
import { sameJson } from '../core/text/compare-json.ts';
import { createEvaluation } from '../core/evaluation.ts';
import { certificateCell, classFeaturesCell, installationCell, objectCell } from '../core/graph/inputs.ts';
import { write, type Kernel, type Write } from '../core/incremental/index.ts';
import { keyOfRef, quoteRef } from '../core/resources/reference.ts';
import { isSchemaKind } from '../core/schema/index.ts';
import { statuses, type OwnStatus } from '../core/status/emit.ts';
import type { Judgement } from './judgement.ts';

/** The results for one object. */
export interface Outcome {
  readonly findings: readonly JudgedFinding[];
  readonly status: OwnStatus | undefined;
}

/** Findings of one object, independent of other objects. */
export function validateAlone(json: unknown, { policy, installation }: Judgement): readonly JudgedFinding[] {
  const read = readDocument(json, policy.bundle);
  const kernel = createEvaluation([]);
  const judgeAlone = createLoneJudge(kernel, installation, policy);
  return read.type === 'candidate' ? judgeAlone(read.candidate) : withoutEvaluation(read, json, { kernel, policy });
}

/** The results for each object in the context of all of them, in the order given. */
export function evaluateSet(objects: readonly unknown[], judgement: Judgement): readonly Outcome[] {
  const { policy, installation } = judgement;
  const kernel = createEvaluation([statuses]);
  const documents = objects.map((json, position) =>
    readDocument(json, policy.bundle, String(position).padStart(9, '0')),
  );
  const first = new Map<string, CandidateDocument>();
  for (const document of documents)
    if (document.type === 'candidate' && !first.has(keyOf(document))) first.set(keyOf(document), document);
  const counting = [...first.values()];
  const kinds = counting.map(({ candidate }) => candidate.resource.kind);
  kernel.apply([write(installationCell, [], withHostnamePolicies(installation, kinds)), ...counting.flatMap(writesOf)]);
  const all = kernel.emitted(statuses);
  return documents.map((document, position) => {
    if (document.type !== 'candidate')
      return { findings: withoutEvaluation(document, objects[position], { kernel, policy }), status: undefined };
    const key = keyOf(document);
    const { candidate } = document;
    const original = first.get(key) ?? document;
    if (!sameJson(original.candidate.json, candidate.json))
      return {
        findings: [
          failure(
            'duplicate-object',
            `Duplicate object: an earlier object defines ${quoteRef(candidate.resource.ref)} with different contents. Remove one of the two, or rename one.`,
          ),
        ],
        status: undefined,
      };
    return { findings: judge(kernel.read, original.candidate, policy), status: all.get(key) };
  });
}

type CandidateDocument = Extract<ReadDocument, { readonly type: 'candidate' }>;

function keyOf({ candidate }: CandidateDocument): string {
  return keyOfRef(candidate.resource.ref);
}

function writesOf(document: ReadDocument): readonly Write[] {
  if (document.type !== 'candidate') return [];
  const { json, resource } = document.candidate;
  const { kind, namespace, name } = resource.ref;
  const object = write(objectCell, [kind, namespace, name], resource);
  if (kind === 'GatewayClass') return [object, write(classFeaturesCell, [name], featuresOf(json))];
  return kind === 'Secret' ? [object, write(certificateCell, [namespace, name], certificateFacts(json))] : [object];
}

/** Kinds that are not evaluated are validated against the bundle only. Objects of other projects have no findings. */
function withoutEvaluation(
  read: Exclude<ReadDocument, CandidateDocument>,
  json: unknown,
  { kernel, policy }: { readonly kernel: Kernel; readonly policy: AdmissionPolicy },
): readonly JudgedFinding[] {
  if (read.type === 'invalid') return [failure('invalid-object', read.problem)];
  if (read.type === 'foreign' || !isSchemaKind(read.ref.kind)) return [];
  return judgeUnevaluated(kernel.read, { kind: read.ref.kind, apiVersion: read.apiVersion, json }, policy);
}

function failure(rule: string, message: string): JudgedFinding {
  return { rule, path: [], message, effect: 'deny', withheld: false };
}
