import { policyForStored, storedJudgement } from '../../core/admission/stored.ts';
import type { KnownBundle, Settings } from '../../core/admission/settings.ts';
import type { JudgedFinding } from '../../core/admission/judged-finding.ts';
import { findKind } from '../../core/schema/index.ts';
import type { Kernel } from '../../core/incremental/index.ts';
import { Discovery, type ApiClient, type KubernetesObject, type WriteOutcome } from '../../kubernetes/index.ts';
import type { Clock } from '../../time/clock.ts';
import type { Cell, Family, Logger, Metrics, Reading } from '../../telemetry/index.ts';
import { inSlices, Slices, type Gate } from '../../time/slices.ts';
import { AuditLedger } from './ledger.ts';
import { digestOf, maxResults, reportOf, type ReportApi } from './report.ts';
import { ReportStore } from './report-store.ts';
import { resultsOf } from './result.ts';
import { auditedKinds, keyOf, StoredObjects, type StoredObject } from './stored-objects.ts';
import { WriteDelays } from './write-delays.ts';

/** Milliseconds between two looks for report APIs. */
const lookInterval = 60_000;
/** Milliseconds after which stored reports are read again, to repair those that others changed or deleted. */
const repairInterval = 3_600_000;
/** The maximum number of reports that one round writes. */
export const writesPerRound = 50;

/** The surroundings of the audit. */
export interface AuditOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The evaluation of the webhook, with the emission `linkedFindings`. */
  readonly kernel: Kernel;
  /** Resolves when no change is being applied to the evaluation; `undefined` if that is so. */
  readonly readable: Gate;
  readonly settings: () => Settings;
  readonly bundleOf: (group: string, resource: string) => KnownBundle;
  /** Whether the evaluation knows all objects. */
  readonly ready: () => boolean;
  /** The current day in UTC, `2026-11-23`. */
  readonly today: () => string;
  /** Milliseconds between two rounds. Default: 5 seconds. */
  readonly interval?: number;
}

interface TermOptions extends AuditOptions {
  readonly writes: Family<Cell>;
  readonly interval: number;
}

/** The audit during one term as leader. It lists and watches the objects itself, so that other replicas do not hold them. */
export class AuditTerm {
  readonly objects = new StoredObjects();
  private readonly options: TermOptions;
  private readonly ledger = new AuditLedger();
  private readonly controller = new AbortController();
  private readonly discovery: Discovery;
  private readonly store: ReportStore;
  private readonly delays: WriteDelays;
  private basis: { readonly settings: Settings; readonly day: string } | undefined;
  /** `undefined` before the first look. */
  private api: ReportApi | 'none' | undefined;
  /** Namespace → digest of the stored report. */
  private digests = new Map<string, string>();
  private inherited: ReadonlyMap<string, number> = new Map();
  /** Milliseconds of the clock. */
  private looked = -Infinity;
  private read = -Infinity;

  /** Starts to follow the objects. */
  constructor(options: TermOptions) {
    this.options = options;
    const { client, clock, log, interval } = options;
    this.store = new ReportStore(client, this.controller.signal);
    this.delays = new WriteDelays(clock, interval);
    this.discovery = new Discovery({
      client,
      clock,
      log,
      kinds: auditedKinds,
      onEvents: (events) => {
        for (const ref of this.objects.observe(events)) this.ledger.set(ref.namespace, keyOf(ref), []);
      },
      onInstalled: () => {},
    });
  }

  counts(): readonly Reading[] {
    return this.ledger.counts();
  }

  /** Ends the term. Nothing is written afterwards. */
  async stop(): Promise<void> {
    this.controller.abort(new Error('the term as leader has ended'));
    await this.discovery.stop();
  }

  /**
   * Judges what has changed since the last round, and writes the reports that are out of date. `waiting`: for the objects. `unfinished`: objects
   * are left, because the interval is over. Thousands of objects, or constant changes, must not keep the reports of others from being written.
   */
  async round(): Promise<'waiting' | 'unfinished' | 'done'> {
    // A part of the objects would cause wrong findings.
    if (!this.discovery.synced || !this.options.ready()) return 'waiting';
    this.noticeBasis();
    await this.look();
    // Objects share slices: most of them take much less than a slice.
    const { clock, interval, readable } = this.options;
    const slices = new Slices(() => clock.now(), readable);
    const end = clock.now() + interval;
    let isFinished = true;
    for (const object of this.objects.take()) {
      while (slices.isUsedUp) await slices.next();
      if (this.controller.signal.aborted) return 'done';
      await this.judge(object, slices);
      isFinished = clock.now() < end;
      if (!isFinished) break;
    }
    // Each result has its time now. Those that are left belong to findings that are gone.
    if (this.objects.areKnown) this.inherited = new Map();
    await this.writeChanged(slices);
    return isFinished ? 'done' : 'unfinished';
  }

  /** The settings and the day decide on all objects. */
  private noticeBasis(): void {
    const basis = { settings: this.options.settings(), day: this.options.today() };
    if (this.basis !== undefined && (this.basis.settings !== basis.settings || this.basis.day !== basis.day))
      this.objects.reconsiderAll();
    this.basis = basis;
  }

  private async judge(object: StoredObject, slices: Slices): Promise<void> {
    const json = JSON.parse(object.text) as KubernetesObject;
    const findings = await this.findingsOf(object, json, slices);
    // If it has changed in the meantime, the next round judges it again. Until then, it keeps its results and their times.
    if (!this.objects.has(object)) return;
    const { kind, namespace, name } = object;
    const { apiVersion = '', metadata } = json;
    const before = this.ledger.timesOf(namespace, keyOf(object));
    const now = Math.floor(this.options.clock.date().getTime() / 1000);
    const results = resultsOf(
      { apiVersion, kind, namespace, name, uid: metadata.uid ?? '' },
      findings,
      (identity) => before.get(identity) ?? this.inherited.get(identity) ?? now,
    );
    this.ledger.set(namespace, keyOf(object), results);
  }

  private async findingsOf(
    { group, kind, namespace }: StoredObject,
    json: KubernetesObject,
    slices: Slices,
  ): Promise<readonly JudgedFinding[]> {
    const { kernel, settings, bundleOf, today } = this.options;
    const bundle = bundleOf(group, findKind(group, kind)?.plural ?? '');
    const policy = policyForStored(kernel.read, settings(), { kind, namespace, today: today() }, bundle);
    return policy === 'exempt'
      ? []
      : inSlices(
          storedJudgement(json, () => kernel.read, policy),
          slices,
        );
  }

  /** Finds the report API, and reads the stored reports from time to time. */
  private async look(): Promise<void> {
    const now = this.options.clock.now();
    if (now - this.looked < lookInterval) return;
    const [api = 'none', ...others] = await this.store.installed();
    const hasChanged = api !== this.api;
    if (!hasChanged && now - this.read < repairInterval) {
      this.looked = now;
      return;
    }
    if (hasChanged) {
      this.delays.clear();
      this.options.log.info(
        { api: api === 'none' ? api : api.namespaced.apiVersion },
        'API for the reports of the audit',
      );
    }
    this.digests = new Map();
    for (const other of others) await this.clear(other);
    if (api !== 'none') {
      const { digests, times } = await this.store.read(api);
      this.digests = digests;
      this.inherited = times;
      for (const namespace of [...digests.keys(), ...this.ledger.namespaces()]) this.ledger.mark(namespace, 'changed');
    }
    this.api = api;
    this.looked = now;
    this.read = now;
  }

  /** Deletes the reports in an API that is not preferred any more. */
  private async clear(api: ReportApi): Promise<void> {
    const { digests } = await this.store.read(api);
    for (const namespace of digests.keys()) this.note(await this.store.remove(api, namespace), namespace);
  }

  private async writeChanged(slices: Slices): Promise<void> {
    const api = this.api;
    if (api === undefined || api === 'none') return;
    let left = writesPerRound;
    for (const namespace of this.ledger.changed()) {
      if (!this.isWritable(namespace)) continue;
      if (slices.isUsedUp) await slices.next();
      if (left === 0 || this.controller.signal.aborted) return;
      const results = this.ledger.resultsOf(namespace, maxResults);
      const report =
        results.length === 0 ? undefined : reportOf(api, namespace, results, this.ledger.totalsOf(namespace));
      const digest = report && digestOf(report);
      if (digest === this.digests.get(namespace)) {
        this.ledger.mark(namespace, 'written');
        this.delays.succeeded(namespace);
        continue;
      }
      left -= 1;
      // Marked before the write: a change in the meantime must be written as well.
      this.ledger.mark(namespace, 'written');
      const outcome = await (report === undefined ? this.store.remove(api, namespace) : this.store.write(api, report));
      if (!this.note(outcome, namespace)) {
        this.ledger.mark(namespace, 'changed');
        this.delays.failed(namespace, outcome.type === 'unavailable' ? outcome.retryAfter : undefined);
        continue;
      }
      this.delays.succeeded(namespace);
      if (digest === undefined) this.digests.delete(namespace);
      else this.digests.set(namespace, digest);
    }
  }

  /** A report without the results of some objects would replace the one of an earlier term. */
  private isWritable(namespace: string): boolean {
    return this.objects.isKnown(namespace) && this.delays.isDue(namespace);
  }

  /** Counts a write. @returns whether it does not have to be repeated */
  private note(outcome: WriteOutcome, namespace: string): boolean {
    this.options.writes.at(outcome.type).value += 1;
    if (outcome.type === 'ok') return true;
    // The namespace or the CRD is gone.
    if (outcome.type === 'notFound') {
      this.looked = -Infinity;
      return true;
    }
    if (this.controller.signal.aborted) return false;
    this.options.log.warn({ namespace, outcome: outcome.type, problem: outcome.message }, 'cannot write a report');
    return false;
  }
}
