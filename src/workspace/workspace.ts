import { installedBundle, withHostnamePolicies } from '../core/admission/installation.ts';
import { policySettingsWrites } from '../core/admission/policy-settings.ts';
import { judgedBundle, type KnownBundle, type Settings } from '../core/admission/settings.ts';
import { policyForStored, storedJudgement } from '../core/admission/stored.ts';
import { judge } from '../core/admission/judge.ts';
import type { JudgedFinding } from '../core/admission/judged-finding.ts';
import type { AdmissionPolicy } from '../core/admission/policy.ts';
import { sameJson } from '../core/text/compare-json.ts';
import { readDocument, type Candidate } from '../core/admission/candidate.ts';
import { createEvaluation } from '../core/evaluation.ts';
import { installationCell, objectCell, type Installation } from '../core/graph/inputs.ts';
import { write, type Delta, type Kernel, type Write } from '../core/incremental/index.ts';
import type { Emission, Reader } from '../core/incremental/reader.ts';
import { parseObject } from '../core/resources/parse.ts';
import { keyOfRef, refOfKey, type ObjectRef } from '../core/resources/reference.ts';
import { isSameBundle } from '../core/schema/index.ts';
import { recordOf } from '../core/text/record.ts';
import { runToEnd, type Steps } from '../core/text/steps.ts';
import { classFeatureWrites, factWrites } from '../facts/fact-writes.ts';
import type { SourceDocument } from '../files/document.ts';
import { judgeUnserved, remarkOf, type Remark } from './remark.ts';

/** Settings of admission that apply to the objects. */
export interface ConfiguredJudging {
  readonly settings: Settings;
  /** The current day in UTC, `2026-11-23`. */
  readonly today: string;
}

/** An object of the workspace and its document. */
export interface WorkspaceObject {
  readonly document: SourceDocument;
  readonly candidate: Candidate;
}

interface WorkspaceEntry extends WorkspaceObject {
  readonly id: string;
}

/** A document that describes an object that an earlier document describes already. The earlier one counts. */
export interface Copy extends WorkspaceObject {
  readonly original: WorkspaceObject;
  /** Whether both are equal as JSON, regardless of the order of keys. */
  readonly isSame: boolean;
}

/**
 * The objects of some files and their evaluation. It takes the part of an API server: objects get the defaults of the bundle, a
 * generation that counts changes, and their order of appearance as their age.
 */
export class Workspace {
  readonly kernel: Kernel;
  private readonly policy: AdmissionPolicy;
  private readonly configured: ConfiguredJudging | undefined;
  private installation: Installation;
  /** Identity → documents that describe it, in order of appearance. The first one counts. */
  private readonly entries = new Map<string, WorkspaceEntry[]>();
  /** The current documents; `undefined`: not evaluated. */
  private documents = new Map<SourceDocument, WorkspaceEntry | undefined>();
  private readonly remarksByDocument = new Map<SourceDocument, Remark>();
  private readonly generations = new Map<string, { readonly generation: number; readonly spec: unknown }>();

  /**
   * @param policy the policy without settings; its bundle applies to kinds that are not installed
   * @param emissions results of the evaluation to follow
   * @param configured the settings of admission, if there are any
   */
  constructor(
    installation: Installation,
    policy: AdmissionPolicy,
    emissions: readonly Emission<unknown>[],
    configured?: ConfiguredJudging,
  ) {
    this.kernel = createEvaluation(emissions);
    this.policy = policy;
    this.configured = configured;
    this.installation = installation;
    const policies = policySettingsWrites([], configured?.settings.hostnamePolicies ?? []);
    this.kernel.apply([write(installationCell, [], installation), ...policies]);
  }

  /**
   * Takes the current documents and evaluates the difference. Documents of unchanged files must be identical to the earlier ones.
   * Documents of changed files are new, because their positions differ.
   */
  update(documents: readonly SourceDocument[]): Delta {
    return this.kernel.apply(runToEnd(this.take(documents)));
  }

  /** Like `update`, in steps, for callers that evaluate the difference themselves: returns the writes to the kernel. */
  *take(documents: readonly SourceDocument[]): Steps<readonly Write[]> {
    const present = new Set(documents);
    const gone = new Set(this.documents.keys()).difference(present);
    const former = new Map(gone.values().map((document) => [orderOf(document), document]));
    const read: WorkspaceEntry[] = [];
    const added = present.difference(this.documents);
    for (const document of added) {
      const entry = this.entryAgain(document, former.get(orderOf(document))) ?? this.entryOf(document);
      if (entry !== undefined) read.push(entry);
      yield;
    }
    const touched = new Set<string>();
    for (const document of gone) this.remove(document, touched);
    for (const id of touched) this.retain(id, gone);
    for (const document of added) this.documents.set(document, undefined);
    for (const entry of read) this.add(entry, touched);
    // Once for each object, because a file may describe an object any number of times.
    for (const id of touched) this.entries.get(id)?.sort((one, other) => compare(one.document, other.document));
    const kinds = touched.values().map((id) => refOfKey(id).kind);
    const installation = withHostnamePolicies(this.installation, kinds);
    const isSameInstallation = installation === this.installation;
    this.installation = installation;
    const writes = isSameInstallation ? [] : [write(installationCell, [], installation)];
    for (const id of touched) {
      for (const one of this.writesOf(id)) writes.push(one);
      yield;
    }
    return writes;
  }

  /** Objects that count, in order of appearance. */
  objects(): readonly WorkspaceObject[] {
    return [...this.entries.values()]
      .flatMap(([first]) => (first === undefined ? [] : [first]))
      .sort((one, other) => compare(one.document, other.document));
  }

  /** Documents that describe an object of an earlier document. They do not affect the evaluation of other objects. */
  copies(): readonly Copy[] {
    return [...this.entries.values()].flatMap(([original, ...rest]) =>
      original === undefined
        ? []
        : rest.map(({ document, candidate }): Copy => ({
            document,
            candidate,
            original,
            isSame: sameJson(original.candidate.json, candidate.json),
          })),
    );
  }

  /** Documents that are not evaluated, in order of appearance. */
  remarks(): readonly Remark[] {
    return [...this.remarksByDocument.values()].sort((one, other) => compare(one.document, other.document));
  }

  /** Gateway API objects that are not evaluated, with the findings of the schema. */
  unserved(): readonly { readonly document: SourceDocument; readonly findings: readonly JudgedFinding[] }[] {
    return this.remarks().flatMap(({ document, type }) =>
      type === 'unserved' ? [{ document, findings: this.judgeUnserved(document) }] : [],
    );
  }

  private judgeUnserved(document: SourceDocument): readonly JudgedFinding[] {
    const parsed = parseObject(document.value);
    const policy = parsed.type === 'unserved' ? this.policyFor(parsed.ref, document) : 'exempt';
    return policy === 'exempt' ? [] : judgeUnserved(this.kernel.read, document, policy);
  }

  /** The number of Gateway API objects and objects of kinds that the API refers to. */
  get size(): number {
    return this.entries.size + this.remarks().filter(({ type }) => type === 'unserved').length;
  }

  /** All findings of an object, as in admission. */
  judge({ candidate, document }: WorkspaceObject): readonly JudgedFinding[] {
    const policy = this.policyFor(candidate.resource.ref, document);
    return policy === 'exempt' ? [] : this.judgeBy(policy, candidate, this.kernel.read);
  }

  /** All findings of a copy, as if it replaced the document that counts. */
  judgeCopy({ candidate, document, original, isSame }: Copy): readonly JudgedFinding[] {
    if (isSame) return this.judge(original);
    const policy = this.policyFor(candidate.resource.ref, document);
    return policy === 'exempt' ? [] : this.judgeBy(policy, candidate, this.kernel.overlay(writesFor(candidate)).read);
  }

  /** Reads the object again if an override of the settings judges it by another bundle than the installed one. */
  private judgeBy(policy: AdmissionPolicy, candidate: Candidate, read: Reader): readonly JudgedFinding[] {
    const { bundle } = this.installedBundle(candidate.resource.kind);
    return isSameBundle(bundle, policy.bundle)
      ? judge(read, candidate, policy)
      : runToEnd(storedJudgement(candidate.json, () => read, policy));
  }

  /** The policy for an object of a document. A guessed bundle denies what nobody has validated: only API servers know the real schema. */
  private policyFor(
    { kind, namespace }: Pick<ObjectRef, 'kind' | 'namespace'>,
    { isStored }: SourceDocument,
  ): AdmissionPolicy | 'exempt' {
    const { bundle, certain } = this.installedBundle(kind);
    const known = { bundle, certain: certain || isStored !== true };
    if (this.configured === undefined) return { ...this.policy, ...judgedBundle([], kind, known) };
    const { settings, today } = this.configured;
    return policyForStored(this.kernel.read, settings, { kind, namespace, today }, known);
  }

  private installedBundle(kind: string): KnownBundle {
    return installedBundle(this.installation, kind, this.policy.bundle);
  }

  /** The Secret of a file, for TLS termination. The evaluation reads only facts about it. */
  secret(namespace: string, name: string): unknown {
    return this.entries.get(`Secret/${namespace}/${name}`)?.[0]?.candidate.json;
  }

  /** The entry of a document at the same place, if both have the same value. Most of a changed file is as before. */
  private entryAgain(document: SourceDocument, former: SourceDocument | undefined): WorkspaceEntry | undefined {
    const known = former && this.documents.get(former);
    return known !== undefined && sameJson(known.document.value, document.value) ? { ...known, document } : undefined;
  }

  private entryOf(document: SourceDocument): WorkspaceEntry | undefined {
    const { kind } = recordOf(document.value);
    const { bundle } = this.installedBundle(typeof kind === 'string' ? kind : '');
    const read = readDocument(document.value, bundle, orderOf(document));
    if (read.type !== 'candidate') {
      this.remarksByDocument.set(document, remarkOf(document, read));
      return undefined;
    }
    return { id: keyOfRef(read.candidate.resource.ref), document, candidate: read.candidate };
  }

  private add(entry: WorkspaceEntry, touched: Set<string>): void {
    const { id, document } = entry;
    this.documents.set(document, entry);
    const present = this.entries.get(id);
    if (present === undefined) this.entries.set(id, [entry]);
    else present.push(entry);
    touched.add(id);
  }

  private remove(document: SourceDocument, touched: Set<string>): void {
    const entry = this.documents.get(document);
    this.documents.delete(document);
    this.remarksByDocument.delete(document);
    if (entry !== undefined) touched.add(entry.id);
  }

  private retain(id: string, gone: ReadonlySet<SourceDocument>): void {
    const left = (this.entries.get(id) ?? []).filter(({ document }) => !gone.has(document));
    if (left.length === 0) this.entries.delete(id);
    else this.entries.set(id, left);
  }

  private writesOf(id: string): readonly Write[] {
    const entries = this.entries.get(id);
    const [entry] = entries ?? [];
    if (entries === undefined || entry === undefined) {
      const { kind, namespace, name } = refOfKey(id);
      this.generations.delete(id);
      return [
        write(objectCell, [kind, namespace, name], undefined),
        ...factWrites({ kind, namespace, name }, undefined),
        ...classFeatureWrites({ kind, name }, undefined),
      ];
    }
    const numbered = this.numbered(entry);
    entries[0] = numbered;
    this.documents.set(numbered.document, numbered);
    return writesFor(numbered.candidate);
  }

  /** Files rarely contain a generation. This counts changes of the spec, as the API server does. */
  private numbered(entry: WorkspaceEntry): WorkspaceEntry {
    const { resource } = entry.candidate;
    if (resource.meta.generation > 0) return entry;
    const { spec } = entry.candidate.json as { readonly spec?: unknown };
    const known = this.generations.get(entry.id);
    const generation = known === undefined ? 1 : known.generation + (sameJson(known.spec, spec) ? 0 : 1);
    this.generations.set(entry.id, { generation, spec });
    return {
      ...entry,
      candidate: { ...entry.candidate, resource: { ...resource, meta: { ...resource.meta, generation } } },
    };
  }
}

function writesFor({ resource, json }: Candidate): readonly Write[] {
  const { kind, namespace, name } = resource.ref;
  return [
    write(objectCell, [kind, namespace, name], resource),
    ...factWrites({ kind, namespace, name }, json),
    ...classFeatureWrites({ kind, name }, json),
  ];
}

function orderOf(document: SourceDocument): string {
  return `${document.file}#${String(document.index).padStart(6, '0')}`;
}

function compare(one: SourceDocument, other: SourceDocument): number {
  const [left, right] = [orderOf(one), orderOf(other)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
