import { judge, type Candidate, type JudgedFinding } from '../../src/core/admission/judge.ts';
import type { AdmissionPolicy } from '../../src/core/admission/policy.ts';
import { createEvaluation } from '../../src/core/evaluation.ts';
import { acknowledgementCell, certificateCell, installationCell, objectCell, type Acknowledgement, type CertificateFacts } from '../../src/core/graph/inputs.ts';
import { write, type Kernel, type Write } from '../../src/core/incremental/index.ts';
import { parseObject } from '../../src/core/resources/parse.ts';
import { qualifiedName, type ObjectRef } from '../../src/core/resources/reference.ts';
import { applyDefaults } from '../../src/core/schema/index.ts';

/** The installation that tests evaluate for. */
export const installation = { controllerName: 'sallyport.dev/gateway-controller', bundleVersion: 'v1.7.0' };

export const standardPolicy: AdmissionPolicy = { profile: 'standard', overrides: {}, bundle: { minor: '1.7', channel: 'standard' } };

/** What evaluation needs beside objects, by `namespace/name`. */
export interface Facts {
  readonly certificates?: Readonly<Record<string, CertificateFacts>>;
  readonly acknowledgements?: Readonly<Record<string, Acknowledgement>>;
}

/** Some objects, evaluated together as an API server would hand them over: defaults filled in. */
export interface World {
  readonly kernel: Kernel;
  readonly candidates: readonly Candidate[];
  /** What a policy says of one of the candidates. */
  judge(candidate: Candidate): readonly JudgedFinding[];
}

/** Evaluates JSON objects in order of appearance; throws for what is no object of a served kind. */
export function evaluate(objects: readonly unknown[], facts: Facts = {}): World {
  const kernel = createEvaluation();
  const candidates = objects.map((json, position) => candidateOf(json, String(position).padStart(4, '0')));
  kernel.apply([
    write(installationCell, [], installation),
    ...candidates.map(({ resource }) => writeOf(resource.ref, resource)),
    ...Object.entries(facts.certificates ?? {}).map(([key, value]) => write(certificateCell, key.split('/'), value)),
    ...Object.entries(facts.acknowledgements ?? {}).map(([key, value]) => write(acknowledgementCell, key.split('/'), value)),
  ]);
  return { kernel, candidates, judge: (candidate) => judge(kernel.read, candidate, standardPolicy) };
}

/** One object as it stands in a file, read after its defaults were filled in. */
export function candidateOf(json: unknown, order = ''): Candidate {
  const written = parseObject(json, order);
  if (written.type !== 'resource') throw new Error(`no object of a served kind: ${JSON.stringify(written)}`);
  const filled = parseObject(applyDefaults(written.resource.kind, json, standardPolicy.bundle), order);
  if (filled.type !== 'resource') throw new Error('defaults made the object unreadable');
  return { json, apiVersion: written.apiVersion, resource: filled.resource };
}

/** The write that puts an object into its cell, or removes it. */
export function writeOf(ref: ObjectRef, resource: Candidate['resource'] | undefined): Write {
  return write(objectCell, [ref.kind, ref.namespace, ref.name], resource);
}

/** The candidate called `Kind namespace/name`. */
export function candidateCalled({ candidates }: World, kind: string, name: string): Candidate {
  const found = candidates.find(({ resource: { ref } }) => ref.kind === kind && qualifiedName(ref) === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}
