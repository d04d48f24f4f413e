import { withHostnamePolicies } from '../../src/core/admission/installation.ts';
import { judge } from '../../src/core/admission/judge.ts';
import type { JudgedFinding } from '../../src/core/admission/judged-finding.ts';
import type { AdmissionPolicy } from '../../src/core/admission/policy.ts';
import { featuresOf } from '../../src/core/admission/class-features.ts';
import { readDocument, type Candidate } from '../../src/core/admission/candidate.ts';
import { findingCounts } from '../../src/core/admission/impact.ts';
import { createEvaluation } from '../../src/core/evaluation.ts';
import {
  acknowledgementCell,
  authorityCell,
  certificateCell,
  classFeaturesCell,
  installationCell,
  objectCell,
  parameterCell,
  type Acknowledgement,
  type AuthorityFacts,
  type CertificateFacts,
  type Installation,
} from '../../src/core/graph/inputs.ts';
import { write, type Kernel, type Write } from '../../src/core/incremental/index.ts';
import { formatPath } from '../../src/core/resources/path.ts';
import { qualifiedName, type ObjectRef } from '../../src/core/resources/reference.ts';
import { configuration } from '../../src/core/routing/emit.ts';
import { infrastructure } from '../../src/core/routing/infrastructure.ts';
import { findings } from '../../src/core/rules/engine/run.ts';
import type { Bundle } from '../../src/core/schema/index.ts';
import { selectorServices } from '../../src/core/routing/selector-services.ts';
import { statuses } from '../../src/core/status/emit.ts';
import { consequenceOf } from '../../src/core/rules/engine/validity.ts';

/** An evaluation of no objects, of which everything that there is can be followed. */
export function emptyEvaluation(): Kernel {
  return createEvaluation([configuration, infrastructure, selectorServices, statuses, findingCounts]);
}

/** The installation that tests evaluate for. */
export const installation: Installation = {
  controllerName: 'sallyport.dev/gateway-controller',
  bundleVersions: { GatewayClass: 'v1.7.0' },
  bundles: { GatewayClass: { minor: '1.7', channel: 'standard' }, Gateway: { minor: '1.7', channel: 'standard' } },
  unobserved: [],
};

export const standardPolicy: AdmissionPolicy = {
  profile: 'standard',
  overrides: {},
  bundle: { minor: '1.7', channel: 'standard' },
};

/** What evaluation needs beside objects, by `namespace/name`. */
export interface Facts {
  /** Of the API server that stores the objects, which drops the fields that its bundle does not have. The standard channel unless given. */
  readonly bundle?: Bundle;
  readonly certificates?: Readonly<Record<string, CertificateFacts>>;
  readonly authorities?: Readonly<Record<string, AuthorityFacts>>;
  readonly parameters?: Readonly<Record<string, Readonly<Record<string, string>>>>;
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
  const kernel = emptyEvaluation();
  const candidates = objects.map((json, position) =>
    candidateOf(json, String(position).padStart(4, '0'), facts.bundle),
  );
  kernel.apply([
    write(
      installationCell,
      [],
      withHostnamePolicies(
        facts.bundle === undefined
          ? installation
          : { ...installation, bundles: { GatewayClass: facts.bundle, Gateway: facts.bundle } },
        candidates.map(({ resource }) => resource.kind),
      ),
    ),
    ...candidates.map(({ resource }) => writeOf(resource.ref, resource)),
    ...candidates
      .filter(({ resource }) => resource.kind === 'GatewayClass')
      .map(({ resource, json }) => write(classFeaturesCell, [resource.ref.name], featuresOf(json))),
    ...Object.entries(facts.certificates ?? {}).map(([key, value]) => write(certificateCell, key.split('/'), value)),
    ...Object.entries(facts.authorities ?? {}).map(([key, value]) => write(authorityCell, key.split('/'), value)),
    ...Object.entries(facts.parameters ?? {}).map(([key, value]) => write(parameterCell, key.split('/'), value)),
    ...Object.entries(facts.acknowledgements ?? {}).map(([key, value]) =>
      write(acknowledgementCell, key.split('/'), value),
    ),
  ]);
  const policy = { ...standardPolicy, bundle: facts.bundle ?? standardPolicy.bundle };
  return { kernel, candidates, judge: (candidate) => judge(kernel.read, candidate, policy) };
}

/** One object as it stands in a file, read after its defaults were filled in. */
export function candidateOf(json: unknown, order = '', bundle = standardPolicy.bundle): Candidate {
  const read = readDocument(json, bundle, order);
  if (read.type !== 'candidate') throw new Error(`no object of a served kind: ${JSON.stringify(read)}`);
  return read.candidate;
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

/** A class of ours, `sallyport`. */
export const ourClass = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'sallyport' },
  spec: { controllerName: installation.controllerName },
};

/** A Service in the namespace `shop`. */
export function serviceWith(spec: unknown, name = 'cart', namespace = 'shop'): unknown {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec };
}

/** A ListenerSet `extra`. */
export function listenerSet(spec: unknown, namespace = 'shop'): unknown {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'ListenerSet',
    metadata: { name: 'extra', namespace },
    spec,
  };
}

/** A ReferenceGrant `allow` in `namespace`. */
export function grantIn(namespace: string, from: unknown, to: unknown): unknown {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'ReferenceGrant',
    metadata: { name: 'allow', namespace },
    spec: { from: [from], to: [to] },
  };
}

/** What a rule finds in the first of some objects, evaluated with the others: path, message and consequence. */
export function found(
  ruleId: string,
  objects: readonly [unknown, ...unknown[]],
  facts: Facts = {},
): readonly (readonly [path: string, message: string, consequence: string])[] {
  const { kernel, candidates } = evaluate(objects, facts);
  const [subject] = candidates;
  if (subject === undefined) return [];
  const { kind, namespace, name } = subject.resource.ref;
  return kernel.read
    .query(findings, kind, namespace, name)
    .filter(({ rule }) => rule === ruleId)
    .map((finding) => {
      const consequence = consequenceOf(finding);
      return [
        formatPath(finding.path),
        finding.message,
        consequence === undefined ? 'none' : `${consequence.condition} ${consequence.reason} ${consequence.scope}`,
      ];
    });
}
